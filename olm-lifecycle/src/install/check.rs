//! Whether what the strategy describes is installed and runs (spec olm-operator 3.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::api::{ClusterServiceVersion, StrategyDeploymentSpec};
use olm_types::labels;
use olm_types::owner::{OwnerName, is_owned_by_label};

use super::deployment::{StrategyError, desired_hash, inherited_annotations, strategy};
use super::overrides::Overrides;
use super::rollout::{Rollout, rollout};
use super::size::check_size;

/// Why the strategy does not count as installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unhealthy {
    /// What kind of problem.
    pub reason: UnhealthyReason,
    /// Text for people; part of the CSV's message.
    pub message: String,
}

/// Kinds of problem, by what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnhealthyReason {
    /// A Deployment is missing: it has to be installed again.
    ComponentMissing,
    /// A Deployment is on its way: wait.
    Waiting,
    /// The pod template lacks annotations of the CSV: install again.
    AnnotationsMissing,
    /// The Deployment was made for another spec: install again.
    DeploymentUpdated,
    /// The rollout failed for good; nothing but a change of the Deployment helps.
    Timeout,
}

/// Looks at each Deployment of the strategy in its order; the first problem is the answer.
/// `deployments` holds those of the CSV's namespace by name.
pub(crate) fn check_installed(
    csv: &ClusterServiceVersion,
    overrides: &Overrides,
    deployments: &BTreeMap<String, Arc<Deployment>>,
) -> Result<Result<(), Unhealthy>, StrategyError> {
    let entries = &strategy(&csv.spec)?.deployments;
    check_size(csv, entries, overrides)?;
    Ok(entries.iter().try_for_each(|entry| check(csv, entry, overrides, deployments)))
}

/// Whether the labels of an object say that it belongs to this CSV.
pub fn is_ours(csv: &ClusterServiceVersion, metadata: &ObjectMeta) -> bool {
    let owner = OwnerName {
        kind: ClusterServiceVersion::KIND,
        namespace: csv.metadata.namespace.as_deref().unwrap_or_default(),
        name: csv.metadata.name.as_deref().unwrap_or_default(),
    };
    metadata.labels.as_ref().is_some_and(|present| is_owned_by_label(present, owner))
}

fn check(
    csv: &ClusterServiceVersion,
    entry: &StrategyDeploymentSpec,
    overrides: &Overrides,
    deployments: &BTreeMap<String, Arc<Deployment>>,
) -> Result<(), Unhealthy> {
    let name = &entry.name;
    // v0 watches labelled Deployments only; one without the label is as good as missing.
    let deployment = deployments
        .get(name)
        .filter(|found| is_ours(csv, &found.metadata) && is_managed(&found.metadata))
        .ok_or_else(|| {
            problem(
                UnhealthyReason::ComponentMissing,
                format!("missing deployment with name={name}"),
            )
        })?;
    match rollout(deployment) {
        Rollout::Ready => {}
        Rollout::Waiting(why) => {
            let text = format!("waiting for deployment {name} to become ready: {why}");
            return Err(problem(UnhealthyReason::Waiting, text));
        }
        Rollout::Failed(why) => {
            let text = format!("deployment {name} not ready before timeout: {why}");
            return Err(problem(UnhealthyReason::Timeout, text));
        }
    }
    check_annotations(csv, deployment)?;
    check_hash(csv, entry, overrides, deployment)
}

fn check_annotations(
    csv: &ClusterServiceVersion,
    deployment: &Deployment,
) -> Result<(), Unhealthy> {
    let missing = |text: String| problem(UnhealthyReason::AnnotationsMissing, text);
    let template = deployment.spec.as_ref().and_then(|spec| spec.template.metadata.as_ref());
    let present = template.and_then(|metadata| metadata.annotations.as_ref());
    for (key, value) in inherited_annotations(csv) {
        let Some(present) = present.filter(|all| !all.is_empty()) else {
            return Err(missing("no annotations found on deployment".to_owned()));
        };
        match present.get(key) {
            Some(actual) if actual == value => {}
            Some(actual) => {
                return Err(missing(format!(
                    "unexpected annotation on deployment. Expected {key}:{value}, found {key}:{actual}"
                )));
            }
            None => {
                return Err(missing(format!(
                    "annotations on deployment does not contain expected key: {key}"
                )));
            }
        }
    }
    Ok(())
}

fn check_hash(
    csv: &ClusterServiceVersion,
    entry: &StrategyDeploymentSpec,
    overrides: &Overrides,
    deployment: &Deployment,
) -> Result<(), Unhealthy> {
    let updated = |text: String| problem(UnhealthyReason::DeploymentUpdated, text);
    let present = deployment.metadata.labels.as_ref();
    let Some(old) = present.and_then(|all| all.get(labels::DEPLOYMENT_SPEC_HASH)) else {
        let name = &entry.name;
        return Err(updated(format!("deployment {name} doesn't have a spec hash, update it")));
    };
    let new = desired_hash(csv, entry, overrides)
        .map_err(|error| updated(format!("couldn't calculate deployment spec hash: {error}")))?;
    if *old == new {
        return Ok(());
    }
    Err(updated(format!("deployment changed old hash={old}, new hash={new}")))
}

fn is_managed(metadata: &ObjectMeta) -> bool {
    let value = metadata.labels.as_ref().and_then(|present| present.get(labels::MANAGED));
    value.is_some_and(|value| value == labels::MANAGED_VALUE)
}

fn problem(reason: UnhealthyReason, message: String) -> Unhealthy {
    Unhealthy { reason, message }
}
