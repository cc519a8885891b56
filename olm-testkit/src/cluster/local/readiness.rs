//! The last steps to a usable cluster: an API server that answers, and a node that is Ready.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::process::Running;

/// The node that kwok plays.
pub(super) const NODE: &str = "simulated";

/// What a start may take on a loaded machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Between two looks.
const POLL: Duration = Duration::from_millis(100);

/// Waits until the API server says it is ready, watching over those it needs.
pub(super) async fn api_server(client: &kube::Client, needed: &mut [Running]) -> Result<()> {
    let deadline = Instant::now() + LIMIT;
    loop {
        needed.iter_mut().try_for_each(Running::check)?;
        let request = http_get("/readyz")?;
        match client.request_text(request).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > deadline => {
                return Err(error).context("the API server is not ready");
            }
            Err(_) => sleep(POLL).await,
        }
    }
}

/// Makes the node. It exists before kwok starts, which then finds it in its first list.
pub(super) async fn create_node(client: &kube::Client) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let capacity = json!({"cpu": "64", "memory": "256Gi", "pods": "10000"});
    let node = serde_json::from_value(json!({
        "metadata": {
            "name": NODE,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/hostname": NODE,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "type": "kwok",
            },
        },
    }))
    .context("cannot describe the node")?;
    nodes.create(&PostParams::default(), &node).await.context("cannot create the node")?;
    let status = json!({"status": {"allocatable": capacity, "capacity": capacity}});
    nodes
        .patch_status(NODE, &PatchParams::default(), &Patch::Merge(status))
        .await
        .context("cannot give the node its capacity")?;
    Ok(())
}

/// Waits until pods can be created, scheduled and run.
pub(super) async fn workloads(client: &kube::Client, needed: &mut [Running]) -> Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
    let nodes: Api<Node> = Api::all(client.clone());
    let deadline = Instant::now() + LIMIT;
    loop {
        needed.iter_mut().try_for_each(Running::check)?;
        let node = nodes.get_opt(NODE).await.context("cannot read the node")?;
        let account = accounts.get_opt("default").await.context("cannot read an account")?;
        if node.as_ref().is_some_and(is_ready) && account.is_some() {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("the node is not Ready or the default ServiceAccount is missing");
        }
        sleep(POLL).await;
    }
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    let schedulable =
        node.spec.as_ref().is_none_or(|spec| spec.taints.iter().flatten().count() == 0);
    schedulable
        && conditions.into_iter().flatten().any(|c| c.type_ == "Ready" && c.status == "True")
}

fn http_get(path: &str) -> Result<http::Request<Vec<u8>>> {
    http::Request::get(path).body(Vec::new()).context("bad request")
}
