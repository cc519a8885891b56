//! A limit for the objects of a namespace, which the API server enforces.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::wait;
use serde_json::json;

use super::subscription;
use super::timeline::Timeline;

const NAME: &str = "node-ports";

/// How the API counts Services with a node port.
const COUNTED: &str = "services.nodeports";

/// A limit for Services with a node port.
pub(super) struct Quota {
    api: Api<ResourceQuota>,
}

impl Quota {
    /// Allows this many of them in a namespace.
    pub(super) async fn of_node_ports(
        timeline: &Timeline,
        client: &Client,
        namespace: &str,
        count: u8,
    ) -> Result<Self> {
        let quota = Self { api: Api::namespaced(client.clone(), namespace) };
        let limit = serde_json::from_value(json!({
            "metadata": {"name": NAME}, "spec": {"hard": {COUNTED: count.to_string()}},
        }))?;
        quota.api.create(&PostParams::default(), &limit).await.context("cannot make a quota")?;
        quota.report(timeline, count).await?;
        Ok(quota)
    }

    /// What refusals call it.
    pub(super) fn name(&self) -> &'static str {
        NAME
    }

    /// Allows more.
    pub(super) async fn raise(&self, timeline: &Timeline, count: u8) -> Result<()> {
        subscription::edit(&self.api, NAME, json!({"hard": {COUNTED: count.to_string()}})).await?;
        self.report(timeline, count).await
    }

    /// Waits until a limit is in force, and prints it.
    async fn report(&self, timeline: &Timeline, count: u8) -> Result<()> {
        let hard = |quota: &ResourceQuota| {
            let hard = quota.status.as_ref()?.hard.as_ref()?;
            hard.get(COUNTED).map(|limit| limit.0.clone())
        };
        let wanted = Some(count.to_string());
        let quota =
            wait::until(&self.api, NAME, "be in force", |quota| hard(quota) == wanted).await?;
        let hard = hard(&quota).unwrap_or_default();
        timeline.event("ResourceQuota", format!("{NAME} limits {COUNTED} to {hard}"));
        Ok(())
    }
}
