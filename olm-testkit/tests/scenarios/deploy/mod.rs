//! `deploy/`: what a cluster, kubectl and kustomize make of it.

pub mod flags;
pub mod helm;
mod kustomize;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use olm_testkit::cluster::{self, ClusterBackend, local::LocalCluster};
use olm_testkit::deploy::{self, Options, With};
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use olm_testkit::progress::Progress;

use olm_testkit::e2e::TestContext;
use olm_testkit::kubectl::Kubectl;

pub use kustomize::says_the_same;

/// The Deployments of both operators become available, with Pods that the namespace's pod security
/// admits. Those Pods are simulated; the operators of the other scenarios run on outside.
pub async fn the_operators_are_admitted(ctx: Arc<TestContext>) -> Result<()> {
    deploy::apply(&ctx.client, &Options::default(), With::Deployments).await?;
    let ready = deploy::wait_ready(&ctx.client).await;
    let deleted = deploy::delete_deployments(&ctx.client).await;
    ready.and(deleted)
}

/// The rendered files, applied with kubectl twice to a cluster of their own, changed, and removed; then
/// created as v0's are.
pub async fn kubectl_applies_the_files(_: Arc<TestContext>) -> Result<()> {
    let cluster = LocalCluster::for_this_command("deploy", Progress::new(|_| {}))?;
    cluster.up().await?;
    let result = files(&cluster).await;
    cluster.down().await.and(result)
}

async fn files(cluster: &LocalCluster) -> Result<()> {
    let kubeconfig = cluster.kubeconfig().await?;
    let client = cluster::client(&kubeconfig).await?;
    let kubectl = Kubectl::of(&kubeconfig)?;
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    let (definitions, objects) = (folder.path().join("crds.yaml"), folder.path().join("olm.yaml"));
    write(&definitions, &deploy::render("", &deploy::definitions()?)?)?;
    write(&objects, &deploy::render("", &deploy::objects(&Options::default())?)?)?;
    apply(&kubectl, &definitions, &objects)?;
    deploy::wait_ready(&client).await?;
    the_second_time_changes_nothing(&client, &kubectl, &definitions, &objects).await?;
    a_warning_would_be_seen(&kubectl, folder.path())?;
    other_flags(&client).await?;
    nothing_is_left(&client).await?;
    as_v0s_quickstart(&kubectl, &definitions, &objects)
}

/// The commands and the namespace of v0's release files, in a cluster without OLM.
fn as_v0s_quickstart(kubectl: &Kubectl, definitions: &Path, objects: &Path) -> Result<()> {
    let options = Options { namespace: "olm".to_owned(), ..Options::default() };
    write(objects, &deploy::render("", &deploy::objects(&options)?)?)?;
    let (definitions, objects) = (definitions.to_string_lossy(), objects.to_string_lossy());
    kubectl.run(&["create", "-f", &definitions])?;
    kubectl.run(&["wait", "--for=condition=Established", "--timeout=90s", "-f", &definitions])?;
    kubectl.run(&["create", "-f", &objects])?;
    let both = ["deployment/olm-operator", "deployment/catalog-operator"];
    let available = ["-n", "olm", "wait", "--for=condition=Available", "--timeout=90s"];
    kubectl.run(&[&available[..], &both].concat()).map(drop)
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// As README says; returns what the last command prints.
fn apply(kubectl: &Kubectl, definitions: &Path, objects: &Path) -> Result<String> {
    let (definitions, objects) = (definitions.to_string_lossy(), objects.to_string_lossy());
    kubectl.run(&["apply", "--server-side", "--warnings-as-errors", "-f", &definitions])?;
    kubectl.run(&["wait", "--for=condition=Established", "--timeout=90s", "-f", &definitions])?;
    kubectl.run(&["apply", "--warnings-as-errors", "-f", &objects])
}

async fn the_second_time_changes_nothing(
    client: &Client,
    kubectl: &Kubectl,
    definitions: &Path,
    objects: &Path,
) -> Result<()> {
    let before = versions(client).await?;
    let printed = apply(kubectl, definitions, objects)?;
    let changed: Vec<&str> = printed.lines().filter(|line| !line.ends_with("unchanged")).collect();
    ensure!(changed.is_empty(), "applied again, these changed:\n{}", changed.join("\n"));
    let count = deploy::objects(&Options::default())?.len();
    ensure!(printed.lines().count() == count, "{count} objects, but kubectl said\n{printed}");
    ensure!(before == versions(client).await?, "the definitions were written again");
    Ok(())
}

/// Names and resource versions of the definitions; kubectl prints the same for every outcome of a
/// server-side apply.
async fn versions(client: &Client) -> Result<Vec<(String, Option<String>)>> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let list = crds.list(&ListParams::default()).await.context("cannot list definitions")?;
    Ok(list.iter().map(|crd| (crd.name_any(), crd.resource_version())).collect())
}

/// What `apply` relies on: a Deployment whose Pods would be refused is warned about.
fn a_warning_would_be_seen(kubectl: &Kubectl, folder: &Path) -> Result<()> {
    let mut objects = deploy::objects(&Options::default())?;
    objects.retain(|object| object.name_any() == Operator::Olm.name());
    let careless = objects.iter_mut().find(|object| deploy::kind(object) == "Deployment");
    let careless = careless.context("there is no Deployment of the operator")?;
    let pod = careless.data.pointer_mut("/spec/template/spec").and_then(|pod| pod.as_object_mut());
    pod.context("the Deployment has no Pod")?.remove("securityContext");
    let file = folder.join("careless.yaml");
    write(&file, &deploy::render("", std::slice::from_ref(careless))?)?;
    let file = file.to_string_lossy();
    let tried = kubectl.run(&["apply", "--dry-run=server", "--warnings-as-errors", "-f", &file]);
    let refused = tried.err().map(|error| error.to_string()).unwrap_or_default();
    let expected = "would violate PodSecurity \"restricted:latest\": runAsNonRoot != true";
    ensure!(refused.contains(expected), "no warning of that kind, but: {refused:?}");
    Ok(())
}

/// Whoever applied with kubectl may go on with our own way.
async fn other_flags(client: &Client) -> Result<()> {
    let extra_args = [(Operator::Olm, vec!["--debug".to_owned()])].into();
    let options = Options { extra_args, ..Options::default() };
    deploy::apply(client, &options, With::Deployments).await?;
    deploy::wait_ready(client).await
}

async fn nothing_is_left(client: &Client) -> Result<()> {
    deploy::delete(client).await?;
    ensure!(versions(client).await?.is_empty(), "there are definitions");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let left = namespaces.get_opt(OLM_NAMESPACE).await.context("cannot read a namespace")?;
    ensure!(left.is_none(), "the namespace {OLM_NAMESPACE} is there");
    deploy::delete(client).await.context("where nothing is left to delete")
}
