//! Everything that an install writes, in its order (spec olm-operator 3.1).
//!
//! Those who call a server and exist already learn to trust its new certificate before its Secret
//! holds it; those who are new come after the server.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use olm_effect::{Action, Effect, Target};
use olm_types::api::StrategyDeploymentSpec;

use super::observed::Observed;
use super::pass::Request;
use super::serving::{ServingError, callers, trusted_now};
use crate::api_service::legacy;
use crate::certificates::{plan_serving, with_mounts};
use crate::install::{
    DeploymentError, StrategyError, check_apis, check_size, desired_deployment, orphans, strategy,
};
use crate::writes::resource_of;

/// The writes of an install.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Installation {
    /// The calls in their order.
    pub effects: Vec<Effect>,
    /// When the first new certificate is due; absent when none is new.
    pub renewed_until: Option<Timestamp>,
}

/// Why there is no installation.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// Something has to be read or issued first.
    Need(Request),
    /// The strategy is unusable.
    Strategy(StrategyError),
    /// Those who call a server cannot be set up.
    Serving(ServingError),
}

/// The installation of the CSV at this moment.
///
/// # Errors
/// What stands in its way.
pub(super) fn installation(observed: &Observed, now: Timestamp) -> Result<Installation, Obstacle> {
    strategy(&observed.csv.spec).map_err(Obstacle::Strategy)?;
    check_apis(&observed.csv).map_err(Obstacle::Strategy)?;
    let trusted = |deployment: &str| trusted_now(observed, deployment);
    let plan = plan_serving(&observed.csv, &observed.serving, trusted, now)
        .map_err(|order| Obstacle::Need(Request::Certificates(order)))?;
    let callers = callers(observed, &plan.trusted).map_err(Obstacle::Serving)?;
    let legacy = legacy(&observed.serving_csv())
        .map_err(|targets| Obstacle::Need(Request::Live(targets)))?;
    let deployments = deployments(observed, &plan.hashes).map_err(Obstacle::Strategy)?;
    let strategy = strategy(&observed.csv.spec).map_err(Obstacle::Strategy)?;
    let mut effects = plan.surroundings;
    effects.extend(callers.updates);
    effects.extend(plan.secrets);
    effects.extend(deployments);
    effects.extend(callers.creations);
    effects.extend(legacy);
    effects.extend(orphans(&observed.csv, strategy, &observed.deployments));
    Ok(Installation { effects, renewed_until: plan.renewed_until })
}

fn deployments(
    observed: &Observed,
    hashes: &std::collections::BTreeMap<String, String>,
) -> Result<Vec<Effect>, StrategyError> {
    let csv = with_mounts(&observed.csv, hashes).map_err(DeploymentError::from)?;
    let entries = &strategy(&csv.spec)?.deployments;
    check_size(&csv, entries, &observed.overrides)?;
    entries.iter().map(|entry| write(observed, entry)).collect()
}

/// Creates the Deployment, or overwrites whatever has its name, as v0 does.
fn write(observed: &Observed, entry: &StrategyDeploymentSpec) -> Result<Effect, StrategyError> {
    let object = desired_deployment(&observed.csv, entry, &observed.overrides)?;
    let target = Target::namespaced(resource_of::<Deployment>(), observed.namespace(), &entry.name);
    Ok(match observed.deployments.contains_key(&entry.name) {
        true => Effect::new(target, Action::Replace { object, observed: None }),
        false => Effect::create(target, object),
    })
}
