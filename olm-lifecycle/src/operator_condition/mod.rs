//! OperatorConditions: how an operator reports to OLM about itself (spec olm-operator 6.3, 6.4).
//!
//! Every CSV has one of its own name. [`decide`] makes it, gives the operator's accounts the right
//! to write it, and acknowledges in its status what they wrote. Whether a CSV may be replaced is
//! read from it elsewhere (`csv::upgradeable`).

mod generate;
mod role;
mod status;

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use olm_effect::Effect;
use olm_types::api::{ClusterServiceVersion, OperatorCondition};

/// An OperatorCondition and its surroundings; all have one name and namespace.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The CSV, if it exists.
    pub csv: Option<Arc<ClusterServiceVersion>>,
    /// The OperatorCondition, if it exists.
    pub condition: Option<Arc<OperatorCondition>>,
    /// The Role of that name.
    pub role: Option<Arc<Role>>,
    /// The RoleBinding of that name.
    pub role_binding: Option<Arc<RoleBinding>>,
}

/// Brings the OperatorCondition in step with its CSV, then status and rights in step with it.
pub fn decide(observed: &Observed, now: Timestamp) -> Vec<Effect> {
    let generated = observed
        .csv
        .as_deref()
        .and_then(|csv| generate::generate(csv, observed.condition.as_deref()));
    if let Some(effect) = generated {
        // What follows depends on what this leaves, which wakes the next pass.
        return vec![effect];
    }
    let Some(condition) = &observed.condition else { return Vec::new() };
    if condition.metadata.deletion_timestamp.is_some() {
        return Vec::new();
    }
    let role = role::role(condition, observed.role.as_deref());
    let binding = role::role_binding(condition, observed.role_binding.as_deref());
    status::acknowledge(condition, now).into_iter().chain(role).chain(binding).collect()
}

#[cfg(test)]
mod tests;
