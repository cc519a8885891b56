//! The node of a local cluster: an object, and kwok, which plays its kubelet.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::cluster::control_plane::ControlPlane;
use crate::cluster::tools::Part;
use crate::process::Launch;

/// The node that kwok plays.
pub(super) const NODE: &str = "simulated";

/// Pretends to be a kubelet.
pub(super) fn kwok(parts: &ControlPlane<'_>) -> Launch {
    let args = vec![
        format!("--kubeconfig={}", parts.home.arg("kubeconfig")),
        "--manage-all-nodes=true".into(),
        // Without leases the node controller calls the node NotReady after 50 seconds.
        "--node-lease-duration-seconds=40".into(),
    ];
    parts.part(Part::Kwok, args)
}

/// Makes the node. It exists before kwok starts, which then finds it in its first list.
pub(super) async fn create(client: &kube::Client) -> Result<()> {
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
