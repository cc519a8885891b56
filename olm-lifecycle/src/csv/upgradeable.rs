//! Whether an operator lets itself be replaced (spec olm-operator 6.4).

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use olm_types::api::{ClusterServiceVersion, OperatorCondition};
use olm_types::conditions::operator_condition::UPGRADEABLE;

/// Why `replaced` must not be replaced now; `None` when it may.
pub(super) fn why_not_upgradeable(
    replaced: &ClusterServiceVersion,
    conditions: &BTreeMap<String, Arc<OperatorCondition>>,
) -> Option<String> {
    let condition = conditions.get(replaced.metadata.name.as_deref()?)?;
    let forced = condition.spec.overrides.iter().find(|forced| forced.type_ == UPGRADEABLE);
    if let Some(forced) = forced {
        return (forced.status != "True").then(|| refusal(&forced.message));
    }
    let said = find(&condition.status.as_ref()?.conditions)?;
    if said.observed_generation.unwrap_or_default()
        != condition.metadata.generation.unwrap_or_default()
    {
        let status = &said.status;
        return Some(format!(
            "the operatorcondition status \"{UPGRADEABLE}\"=\"{status}\" is outdated"
        ));
    }
    (said.status == "False").then(|| refusal(&said.message))
}

fn find(conditions: &[Condition]) -> Option<&Condition> {
    conditions.iter().find(|condition| condition.type_ == UPGRADEABLE)
}

fn refusal(message: &str) -> String {
    format!("the operator is not upgradeable: {message}")
}
