//! `cargo xtask cluster verify --real`: whether a real node works on this machine, survives a
//! crash, and leaves nothing.

mod dns;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{Api, ListParams, LogParams, PostParams};
use kube::{Client, ResourceExt};
use olm_rig::{RealCluster, Traces};
use olm_testkit::cluster::{self, ClusterBackend, Kind};
use olm_testkit::progress::Progress;
use olm_testkit::{oci, wait, workload};
use serde_json::json;

/// The name of the cluster, of its Deployment and of its Service.
const NAME: &str = "verify";

/// Where the workload serves.
const PORT: u16 = 8080;

/// Runs everything; fails at the first thing that is not as it should be.
pub(super) async fn run(may_install: bool) -> Result<()> {
    let cluster = RealCluster::kept(NAME, Progress::to_stderr())?.may_install(may_install);
    cluster.prepare_machine()?;
    cluster.down().await?;
    alone()?;
    let before = Traces::take()?;
    let result = play(&cluster).await;
    cluster.down().await?;
    result?;
    alone()?;
    let left = Traces::take()?.since(&before);
    ensure!(left.is_empty(), "the cluster left something on the machine:\n{}", left.join("\n"));
    say("it left nothing: mounts, network devices, routes, iptables, cgroups, processes");
    Ok(())
}

/// Fails while there is another cluster with a real node.
fn alone() -> Result<()> {
    let all = cluster::list()?.into_iter().filter(|(_, kind, _)| *kind == Kind::Real);
    let others: Vec<String> = all.map(|(name, ..)| name).collect();
    ensure!(others.is_empty(), "the traces of others look the same; end them first: {others:?}");
    Ok(())
}

async fn play(cluster: &RealCluster) -> Result<()> {
    cluster.up().await?;
    let client = cluster::client(&cluster.kubeconfig().await?).await?;
    use_it(cluster, &client).await?;
    cluster.kill()?;
    ensure!(!cluster.status().await?.up, "the cluster is up after all its processes were killed");
    say("killed every process of it");
    cluster.up().await?;
    let client = cluster::client(&cluster.kubeconfig().await?).await?;
    use_it(cluster, &client).await
}

/// An image of our own, pods from it, a Service, the DNS, and a log.
async fn use_it(cluster: &RealCluster, client: &Client) -> Result<()> {
    let image = tokio::task::spawn_blocking(|| workload::image(&Progress::to_stderr()))
        .await
        .context("the build was cancelled")??;
    oci::push(&image, &cluster.registry()?, "olm-rs/workload", NAME).await?;
    let began = Instant::now();
    create(client).await?;
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    wait::until(&deployments, NAME, "be available", is_available).await?;
    say(&format!("2 pods run after {:.1} s", began.elapsed().as_secs_f32()));
    let answer = client.request_text(http::Request::get(proxy()).body(Vec::new())?).await?;
    ensure!(answer.contains("olm-workload"), "the Service answered {answer:?}");
    say("the Service answers");
    let found = dns::address(client, &format!("{NAME}.default.svc.cluster.local")).await?;
    let services: Api<Service> = Api::default_namespaced(client.clone());
    let service = services.get(NAME).await?.spec.and_then(|spec| spec.cluster_ip);
    ensure!(found.to_string() == service.unwrap_or_default(), "the DNS answered {found}");
    say("the cluster DNS answers");
    logs(client).await?;
    say("the log of a pod can be read");
    Ok(())
}

/// The image has a name that a public registry would serve: it comes from ours all the same.
async fn create(client: &Client) -> Result<()> {
    let labels = json!({"app": NAME});
    let container = json!({
        "name": NAME,
        "image": format!("quay.io/olm-rs/workload:{NAME}"),
        "args": ["serve", "--port", PORT.to_string()],
        "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
    });
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": NAME},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }))?;
    let service: Service = serde_json::from_value(json!({
        "metadata": {"name": NAME},
        "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": PORT}]},
    }))?;
    let parameters = PostParams::default();
    Api::default_namespaced(client.clone()).create(&parameters, &deployment).await?;
    Api::default_namespaced(client.clone()).create(&parameters, &service).await?;
    Ok(())
}

fn is_available(deployment: &Deployment) -> bool {
    deployment.status.as_ref().is_some_and(|status| status.available_replicas == Some(2))
}

fn proxy() -> String {
    format!("/api/v1/namespaces/default/services/{NAME}:80/proxy/")
}

async fn logs(client: &Client) -> Result<()> {
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let list = pods.list(&ListParams::default().labels(&format!("app={NAME}"))).await?;
    let pod = list.items.first().context("there is no pod")?.name_any();
    let log = pods.logs(&pod, &LogParams::default()).await.context("cannot read a log")?;
    ensure!(log.contains(&PORT.to_string()), "the log of {pod} says {log:?}");
    Ok(())
}

fn say(what: &str) {
    println!("ok: {what}");
}
