//! Deployments that belong to a CSV but are no longer part of its strategy (spec olm-operator 3.1).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use olm_effect::{Action, Effect, Propagation};
use olm_types::api::{ClusterServiceVersion, StrategyDetailsDeployment};
use olm_types::owner::is_owned_by_uid;

use super::check::is_ours;
use crate::writes::target_of;

/// Seconds that the pods of an orphan get to end; v0's value.
const GRACE_SECONDS: u32 = 1;

/// The deletions of orphans, pods first. An orphan carries the CSV's labels and its owner
/// reference, so that neither alone makes another owner's Deployment one.
pub fn orphans(
    csv: &ClusterServiceVersion,
    strategy: &StrategyDetailsDeployment,
    deployments: &BTreeMap<String, Arc<Deployment>>,
) -> Vec<Effect> {
    let named: BTreeSet<&str> =
        strategy.deployments.iter().map(|entry| entry.name.as_str()).collect();
    let uid = csv.metadata.uid.as_deref().unwrap_or_default();
    deployments
        .iter()
        .filter(|(name, _)| !named.contains(name.as_str()))
        .filter(|(_, found)| is_ours(csv, &found.metadata) && is_owned_by_uid(&found.metadata, uid))
        .filter(|(_, found)| found.metadata.deletion_timestamp.is_none())
        .map(|(_, found)| removal(found))
        .collect()
}

/// The deletion of a Deployment, pods first.
pub(crate) fn removal(deployment: &Deployment) -> Effect {
    let action = Action::Delete {
        uid: deployment.metadata.uid.clone(),
        propagation: Propagation::Foreground,
        grace_seconds: Some(GRACE_SECONDS),
    };
    Effect::new(target_of(deployment), action)
}
