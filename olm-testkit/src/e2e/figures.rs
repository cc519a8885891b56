//! Figures of a run on nodes: how soon the operators are ready, and what they need.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::deploy::is_available;
use crate::operators::Operator;
use crate::wait;

/// How long a container runs before what it needs is that of one at rest.
const WARM_UP: SignedDuration = SignedDuration::from_secs(20);

/// Measured values in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub struct Figures(pub Vec<Figure>);

impl Figures {
    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.0.iter()
    }
}

/// One measured value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The value with its unit.
    pub value: String,
}

impl Figure {
    /// A value with its unit.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// From the creation of each operator's Deployment until it has all its Pods. To be called before
/// they are created.
pub async fn cold_start(client: Client, namespace: String) -> Result<Vec<Figure>> {
    let deployments: Api<Deployment> = Api::namespaced(client, &namespace);
    let starts = Operator::ALL.map(|operator| start(deployments.clone(), operator));
    try_join_all(starts).await
}

async fn start(deployments: Api<Deployment>, operator: Operator) -> Result<Figure> {
    let name = operator.name();
    wait::until(&deployments, name, "exist", |_| true).await?;
    let created = Instant::now();
    wait::until(&deployments, name, "be available", is_available).await?;
    let took = created.elapsed().as_secs_f64();
    Ok(Figure::new(format!("cold start of {name}"), format!("{took:.1} s")))
}

/// Resident memory of each container in a namespace, as the kubelets of its nodes report. They look
/// every 10 to 15 seconds; what they saw while a container was starting is left out.
pub async fn memory(client: &Client, namespace: &str) -> Result<Vec<Figure>> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let list = pods.list(&ListParams::default()).await.context("cannot list Pods")?;
    let nodes = list.iter().filter_map(|pod| pod.spec.as_ref()?.node_name.clone());
    let mut figures = BTreeMap::new();
    for node in nodes.collect::<BTreeSet<_>>() {
        for pod in summary(client, &node).await?.pods {
            let ours = pod.pod_ref.namespace == namespace
                && list.iter().any(|one| one.name_any() == pod.pod_ref.name);
            let is_warm = |container: &ContainerStats| {
                container.memory.time.duration_since(pod.start_time) >= WARM_UP
            };
            for container in pod.containers.into_iter().filter(|one| ours && is_warm(one)) {
                let name = format!("resident memory of {}, at rest", container.name);
                figures.insert((name, pod.pod_ref.name.clone()), container.memory.to_string());
            }
        }
    }
    Ok(figures.into_iter().map(|((name, _), value)| Figure::new(name, value)).collect())
}

async fn summary(client: &Client, node: &str) -> Result<Summary> {
    let path = format!("/api/v1/nodes/{node}/proxy/stats/summary");
    let request = http::Request::get(path).body(Vec::new()).context("bad request")?;
    let read = client.request(request).await;
    read.with_context(|| format!("the kubelet of {node} does not report what its Pods need"))
}

/// What a kubelet knows, as far as it matters here.
#[derive(Deserialize)]
struct Summary {
    #[serde(default)]
    pods: Vec<PodStats>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodStats {
    pod_ref: PodRef,
    start_time: Timestamp,
    #[serde(default)]
    containers: Vec<ContainerStats>,
}

#[derive(Deserialize)]
struct PodRef {
    name: String,
    namespace: String,
}

#[derive(Deserialize)]
struct ContainerStats {
    name: String,
    memory: MemoryStats,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemoryStats {
    time: Timestamp,
    /// Anonymous memory.
    #[serde(default)]
    rss_bytes: u64,
    /// The same with pages of files that are in use.
    #[serde(default)]
    working_set_bytes: u64,
}

impl fmt::Display for MemoryStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| f64::from(u32::try_from(bytes / 1024).unwrap_or(u32::MAX)) / 1024.0;
        let (rss, working_set) = (mib(self.rss_bytes), mib(self.working_set_bytes));
        write!(f, "{rss:.1} MiB (working set {working_set:.1} MiB)")
    }
}

/// A duration as it is shown among figures.
pub fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
