//! Catalogs that are away. No container runs here: what a kubelet reports is written in its place.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;
use kube::api::{Api, EvictParams, PostParams};
use olm_types::api::CatalogSource;
use olm_types::labels::CATALOG_SOURCE;
use serde_json::{Value, json};

use super::{patch, patch_status};
use crate::builders;
use crate::e2e::TestContext;
use crate::wait;

const NAME: &str = "shelf";

pub(in super::super) async fn address(ctx: Arc<TestContext>) -> Result<()> {
    let source = builders::catalog_source(&ctx.namespace, NAME, "127.0.0.1:1");
    ctx.create(&source).await.map(drop)
}

/// The kubelet's report of a container that took too much and was started again.
pub(in super::super) async fn memory(ctx: Arc<TestContext>) -> Result<()> {
    served(&ctx, json!({})).await?;
    let pod = pod(&ctx, is_running).await?;
    let ended = json!({"exitCode": 137, "reason": "OOMKilled",
        "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:01:00Z"});
    let container = json!({"name": "registry-server", "image": "shelf:1", "imageID": "shelf",
        "ready": false, "restartCount": 1, "lastState": {"terminated": ended},
        "state": {"waiting": {"reason": "CrashLoopBackOff"}}});
    patch_status(&ctx.api::<Pod>(), &pod, json!({"containerStatuses": [container]})).await
}

/// The one node that the Pod may run on is drained: cordoned, and its Pods evicted.
pub(in super::super) async fn drained(ctx: Arc<TestContext>) -> Result<()> {
    let nodes: Api<Node> = Api::all(ctx.client.clone());
    let node = json!({"metadata": {"name": ctx.namespace, "labels": {"shelf": ctx.namespace},
        "annotations": {"kwok.x-k8s.io/node": "fake"}}});
    let node: Node = serde_json::from_value(node).context("a malformed node")?;
    nodes.create(&PostParams::default(), &node).await.context("cannot make a node")?;
    let capacity = json!({"cpu": "8", "memory": "8Gi", "pods": "10"});
    let status = json!({"allocatable": capacity, "capacity": capacity});
    patch_status(&nodes, &ctx.namespace, status).await?;
    served(&ctx, json!({"nodeSelector": {"shelf": ctx.namespace}})).await?;
    let pod = pod(&ctx, is_running).await?;
    patch(&nodes, &ctx.namespace, json!({"spec": {"unschedulable": true}})).await?;
    match ctx.api::<Pod>().evict(&pod, &EvictParams::default()).await {
        // The API server marks the Pod before it deletes it, and the operator may delete what is marked first.
        // `kubectl drain` takes that for evicted, too.
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        evicted => evicted.map(drop).context("cannot evict the Pod"),
    }
}

/// The namespace lets only restricted Pods in, and the catalog asks for another one.
pub(in super::super) async fn refused(ctx: Arc<TestContext>) -> Result<()> {
    ctx.restrict().await?;
    served(&ctx, json!({"securityContextConfig": "legacy"})).await
}

/// A catalog that OLM serves.
async fn served(ctx: &TestContext, config: Value) -> Result<()> {
    let source = json!({"metadata": {"name": NAME, "namespace": ctx.namespace},
        "spec": {"sourceType": "grpc", "image": "registry.example.com/shelf:v1", "grpcPodConfig": config}});
    let source: CatalogSource = serde_json::from_value(source).context("a malformed catalog")?;
    ctx.create(&source).await.map(drop)
}

/// The name of the catalog's Pod, once it is so.
async fn pod(ctx: &TestContext, is_so: impl Fn(&Pod) -> bool) -> Result<String> {
    let is_meant = |pod: &Pod| pod.labels().get(CATALOG_SOURCE).is_some_and(|it| it == NAME);
    let pods = ctx.api::<Pod>();
    let found =
        wait::until_some(&pods, "", "serve the catalog", |pod| is_meant(pod) && is_so(pod)).await?;
    Ok(found.name_any())
}

fn is_running(pod: &Pod) -> bool {
    pod.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Running"))
}
