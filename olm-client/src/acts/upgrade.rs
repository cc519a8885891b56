//! What lets an operator go on: an InstallPlan is approved, with the version that was looked at as a part of the
//! write, or a Subscription follows another channel.

use anyhow::{Context, Result};
use kube::api::{Api, Patch};
use olm_types::api::{InstallPlan, Subscription};
use serde_json::json;

use super::Writing;
use crate::cluster::Cluster;

/// An InstallPlan as it was looked at.
#[derive(Clone, Copy, Debug)]
pub struct ReviewedPlan<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The version of the object.
    pub resource_version: &'a str,
}

/// Approves a plan: false when there is a newer version of it, which was not looked at.
///
/// # Errors
/// The API server refuses it, or does not answer.
pub async fn approve(cluster: &Cluster, plan: ReviewedPlan<'_>, how: Writing<'_>) -> Result<bool> {
    let ReviewedPlan { namespace, name, resource_version } = plan;
    let patch = Patch::Merge(json!({
        "metadata": {"resourceVersion": resource_version},
        "spec": {"approved": true},
    }));
    let api = cluster.api::<InstallPlan>(Some(namespace));
    match cluster.answer(api.patch(name, &how.patch(), &patch)).await {
        Ok(_) => Ok(true),
        Err(error) if is_conflict(&error) => Ok(false),
        Err(error) => Err(error.context(format!("cannot approve InstallPlan {name}"))),
    }
}

/// Lets a Subscription follow another channel.
///
/// # Errors
/// The API server refuses it, or does not answer.
pub async fn follow_channel(
    cluster: &Cluster,
    (namespace, name): (&str, &str),
    channel: &str,
    how: Writing<'_>,
) -> Result<()> {
    let patch = Patch::Merge(json!({"spec": {"channel": channel}}));
    let api: Api<Subscription> = cluster.api(Some(namespace));
    let written = cluster.answer(api.patch(name, &how.patch(), &patch)).await;
    written.map(drop).with_context(|| format!("cannot change Subscription {name}"))
}

fn is_conflict(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(kube::Error::Api(status)) if status.is_conflict())
}
