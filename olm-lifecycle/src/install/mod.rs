//! The install strategy `deployment`: what a CSV's Deployments look like, and whether they run
//! (spec olm-operator 3.3-3.5).

mod check;
mod deployment;
mod disruption;
mod overrides;
mod rollout;
pub(crate) mod shape;
mod size;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use olm_effect::{Action, Effect, Propagation};
use olm_types::api::{ClusterServiceVersion, StrategyDetailsDeployment};
use olm_types::owner::is_owned_by_uid;

use crate::writes::target_of;

pub(crate) use check::check_installed;
pub use check::{Unhealthy, UnhealthyReason, is_ours};
pub(crate) use deployment::desired_deployment;
pub use deployment::{DeploymentError, StrategyError, strategy};
pub use disruption::PodLabels;
pub(crate) use disruption::{incomplete, is_disrupted};
pub use overrides::{Overrides, ProxySettings};
pub use rollout::{Rollout, rollout};
pub(crate) use size::{check_apis, check_size};

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
