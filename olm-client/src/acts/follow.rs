//! A Subscription follows another channel.

use anyhow::{Context, Result};
use kube::api::{Api, Patch};
use olm_types::api::Subscription;
use serde_json::json;

use super::Writing;
use crate::cluster::Cluster;

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
