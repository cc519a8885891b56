//! Nodes on which the pods of a scenario may run, or may not yet.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::builders::CsvBuilder;
use crate::e2e::context::TestContext;

/// Capacity of a node for the pods of one scenario.
pub(super) struct NodeCapacity {
    nodes: Api<Node>,
    label: String,
}

impl NodeCapacity {
    /// No node has capacity at first.
    pub(super) fn of(ctx: &TestContext) -> Self {
        Self { nodes: Api::all(ctx.client.clone()), label: format!("capacity/{}", ctx.namespace) }
    }

    /// The CSV with a Deployment that runs only here.
    pub(super) fn wanted_by(&self, csv: CsvBuilder) -> CsvBuilder {
        csv.deployments(|spec| {
            spec["template"]["spec"]["nodeSelector"] = json!({&self.label: "free"});
        })
    }

    /// From now on there is capacity.
    pub(super) async fn open(&self) -> Result<()> {
        self.mark(json!("free")).await
    }

    /// From now on there is none for pods that are made.
    pub(super) async fn close(&self) -> Result<()> {
        self.mark(Value::Null).await
    }

    async fn mark(&self, value: Value) -> Result<()> {
        let mark = Patch::Merge(json!({"metadata": {"labels": {&self.label: value}}}));
        let nodes = self.nodes.list(&ListParams::default()).await.context("cannot list nodes")?;
        for node in nodes {
            let marked = self.nodes.patch(&node.name_any(), &PatchParams::default(), &mark).await;
            marked.context("cannot label a node")?;
        }
        Ok(())
    }
}
