//! What an install costs: each object that a plan or an install makes is written once and whole, and a
//! namespace is resolved once for each outcome.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::audit::{self, AuditLog, Write};
use olm_testkit::builders::{Bundle, Crd, Package, csv};
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::e2e::{Provider, TestContext};
use olm_testkit::operators::Operator;
use olm_testkit::wait::{self, TIMEOUT};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::environment;

/// Operators that are subscribed to at once; one more is a dependency of the first.
const SUBSCRIBED: [&str; 4] = ["anvil", "bellows", "chisel", "drill"];

/// The dependency.
const REQUIRED: &str = "emery";

/// Kinds that each operator owns.
const KINDS: usize = 3;

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(5);

/// What is written once: the resources of all that a plan or an install makes.
const WHOLE: [&str; 11] = [
    "clusterrolebindings",
    "clusterroles",
    "configmaps",
    "customresourcedefinitions",
    "deployments",
    "operatorconditions",
    "rolebindings",
    "roles",
    "secrets",
    "serviceaccounts",
    "services",
];

/// The start of the names of an OperatorGroup's roles, which follow the APIs of its members.
const GROUP_ROLES: &str = "clusterroles olm.og.";

/// Four operators with rights, kinds and objects of their own, and one that the first of them requires.
pub async fn each_object_once(_: Arc<TestContext>) -> Result<()> {
    let started = Arc::new(environment::start("writes-objects").await?);
    let counted = counted(&started).await;
    // A dead operator explains a failure better than what was waited for.
    let counted = started.check().and(counted);
    environment::end(&started).await.and(counted)
}

async fn counted(started: &Arc<Local>) -> Result<()> {
    let ctx = TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "writes::once").await?;
    ctx.operator_group().await?;
    let packages: Vec<Package> =
        SUBSCRIBED.iter().chain([&REQUIRED]).map(|name| package(name)).collect();
    ctx.catalog("forge", &packages).await?;
    let mut audit = AuditLog::from_now(started.cluster().audit_log())?;
    ctx.subscribe_together().await;
    try_join_all(SUBSCRIBED.iter().map(|name| ctx.subscribe(name, "forge"))).await?;
    for name in SUBSCRIBED.iter().chain([&REQUIRED]) {
        ctx.succeeded(&format!("{name}.v1.0.0")).await?;
    }
    let writes = audit.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await?;
    print(&writes);
    let again: Vec<String> =
        writes.iter().filter(|write| is_again(write)).map(ToString::to_string).collect();
    ensure!(again.is_empty(), "{} objects were written again:\n{}", again.len(), again.join("\n"));
    resolved_once(&started.log(Operator::Catalog)?)?;
    adopted(&ctx).await?;
    let writes = audit.until_idle(&[Operator::Olm.name()], QUIET, TIMEOUT).await?;
    for resource in ["customresourcedefinitions", "configmaps", "deployments"] {
        let mut patches = writes.iter().filter(|write| write.verb == "patch");
        ensure!(patches.any(|write| write.resource() == resource), "no patch of {resource}");
    }
    Ok(())
}

/// Whether a write changes what an earlier one could have made whole.
fn is_again(write: &Write) -> bool {
    WHOLE.contains(&write.resource())
        && write.verb != "create"
        && !write.object.starts_with(GROUP_ROLES)
}

/// Says what was written how often.
fn print(writes: &[Write]) {
    audit::tally(writes).iter().for_each(|(what, count)| println!("{count:>5}  {what}"));
    println!("{:>5}  writes of both operators", writes.len());
}

/// Each bundle is chosen once, which the log says once.
fn resolved_once(log: &str) -> Result<()> {
    let lines: Vec<&str> = log.lines().filter(|line| is_resolved(line)).collect();
    println!("{:>5}  lines `resolved`", lines.len());
    let distinct = lines.iter().map(|line| bundle(line)).collect::<Result<BTreeSet<_>>>()?;
    ensure!(distinct.len() == SUBSCRIBED.len() + 1, "resolved: {distinct:?}");
    ensure!(lines.len() == distinct.len(), "said more than once:\n{}", lines.join("\n"));
    Ok(())
}

fn is_resolved(line: &str) -> bool {
    line.contains("resolved") && line.contains("wanted_by")
}

fn bundle(line: &str) -> Result<&str> {
    let names = SUBSCRIBED.iter().chain([&REQUIRED]);
    let found = names.copied().find(|name| line.contains(&format!("bundle={name}.v1.0.0")));
    found.with_context(|| format!("no bundle in {line}"))
}

/// What lost its label gets it again: that is how what was there before becomes a component, too.
async fn adopted(ctx: &TestContext) -> Result<()> {
    let operator = SUBSCRIBED[0];
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    labelled_again(ctx, &crds, &kinds(operator).remove(0).name()).await?;
    labelled_again(ctx, &ctx.api::<ConfigMap>(), &format!("{operator}-settings")).await?;
    labelled_again(ctx, &ctx.api::<Deployment>(), operator).await
}

async fn labelled_again<K>(ctx: &TestContext, objects: &Api<K>, name: &str) -> Result<()>
where
    K: kube::Resource<DynamicType = ()>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
        + Send
        + 'static,
{
    let key = format!("operators.coreos.com/{}.{}", SUBSCRIBED[0], ctx.namespace);
    let none = Patch::Merge(json!({"metadata": {"labels": {&key: null}}}));
    objects.patch(name, &PatchParams::default(), &none).await.context(K::kind(&()))?;
    let is_labelled = |object: &K| object.labels().contains_key(&key);
    wait::until(objects, name, "be a component again", is_labelled).await.map(drop)
}

fn kinds(operator: &str) -> Vec<Crd> {
    let kind = |number| {
        Crd::new(&format!("{operator}.writes.example.com"), "v1", &format!("Part{number}"))
    };
    (0..KINDS).map(kind).collect()
}

/// An operator with everything that a bundle may bring.
fn package(name: &str) -> Package {
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let all = kinds(name);
    let made = csv(&format!("{name}.v1.0.0"), "1.0.0")
        .deployment(name, name)
        .permission(name, rules.clone())
        .cluster_permission(name, rules);
    let made = all.iter().fold(made, |made, kind| made.owns(kind));
    let first = name == SUBSCRIBED[0];
    let made = if first { made.requires(&kinds(REQUIRED).remove(0)) } else { made };
    let bundle = all.iter().fold(Bundle::new("1.0.0", &made), Bundle::provides);
    let bundle = if first { bundle.requires(&kinds(REQUIRED).remove(0)) } else { bundle };
    let bundle = bundle.manifest(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("{name}-settings")},
        "data": {"speed": "slow"},
    }));
    // The rights of the CSV are for an account of the same name.
    let bundle = bundle.manifest(json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": name, "annotations": {"from": "bundle"}},
    }));
    let bundle = bundle.manifest(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": format!("{name}-metrics")},
        "spec": {"selector": {"name": name}, "ports": [{"port": 8080, "protocol": "TCP", "targetPort": 8080}]},
    }));
    Package::single(name, bundle)
}
