//! ServiceAccounts and what they may do (spec olm-operator 2.6).
//!
//! OLM checks these rights, it never grants them here: whoever wrote the Roles and bindings, an
//! InstallPlan or a person with kubectl, has granted them.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::PolicyRule;
use olm_rbac::{ComparisonBudget, CoverageError, Grants, RuleError, Scope, validate};
use olm_types::api::{
    ClusterServiceVersion, DependentStatus, RequirementStatus, StrategyDeploymentPermissions,
};
use olm_types::{hash, owner};

use super::{RequirementVerdict, outcome};
use crate::csv::observed::Observed;

/// Shape of a rule, for Go-compatible JSON.
const RULE_SHAPE: &str = "rbac/v1.PolicyRule";

/// Why the rights cannot be checked; the text ends up in the CSV's message.
#[derive(Debug, thiserror::Error)]
pub(super) enum PermissionError {
    /// A rule is malformed.
    #[error("rule invalid: {0}")]
    Rule(#[from] RuleError),
    /// A rule is too large.
    #[error("rule invalid: {0}")]
    Size(#[from] CoverageError),
    /// A rule cannot be printed.
    #[error("rule invalid: {0}")]
    Text(String),
}

/// One entry per ServiceAccount, sorted by name, with one dependent per rule.
pub(super) fn judge(observed: &Observed) -> Result<Vec<RequirementVerdict>, PermissionError> {
    let Some(strategy) = &observed.csv.spec.install.spec else { return Ok(Vec::new()) };
    let namespaced = strategy.permissions.iter().map(|block| (block, Scope::Namespace));
    let cluster = strategy.cluster_permissions.iter().map(|block| (block, Scope::Cluster));
    let mut accounts: BTreeMap<&str, RequirementVerdict> = BTreeMap::new();
    let budget = ComparisonBudget::default();
    for (block, scope) in namespaced.chain(cluster) {
        let name = block.service_account_name.as_str();
        let judged = accounts.entry(name).or_insert_with(|| present(name));
        judge_block(observed, (block, scope), &budget, judged)?;
    }
    Ok(accounts.into_values().collect())
}

fn present(name: &str) -> RequirementVerdict {
    let entry = RequirementStatus {
        version: "v1".to_owned(),
        kind: "ServiceAccount".to_owned(),
        name: name.to_owned(),
        status: outcome::PRESENT.to_owned(),
        ..RequirementStatus::default()
    };
    RequirementVerdict { entry, met: true }
}

fn judge_block(
    observed: &Observed,
    (block, scope): (&StrategyDeploymentPermissions, Scope),
    budget: &ComparisonBudget,
    judged: &mut RequirementVerdict,
) -> Result<(), PermissionError> {
    let Some(account) = observed.service_accounts.get(&block.service_account_name) else {
        judged.refuse(outcome::NOT_PRESENT, "Service account does not exist");
        return Ok(());
    };
    let kind = ClusterServiceVersion::KIND;
    let is_owned = owner::is_owned_by_kind(&account.metadata, kind);
    if is_owned && !owner::is_owned_by_uid(&account.metadata, observed.uid()) {
        let message = "Service account is owned by another ClusterServiceVersion";
        judged.refuse(outcome::NOT_SATISFIED, message);
        return Ok(());
    }
    let none = Grants::default();
    let grants = observed.grants.get(&block.service_account_name).unwrap_or(&none);
    for rule in &block.rules {
        validate(rule)?;
        let satisfied = grants.satisfy(scope, rule, budget)?;
        judged.entry.dependents.push(dependent(rule, scope, satisfied)?);
        if !satisfied {
            let message = "Policy rule not satisfied for service account";
            judged.refuse(outcome::NOT_SATISFIED, message);
        }
    }
    Ok(())
}

impl RequirementVerdict {
    fn refuse(&mut self, status: &str, message: &str) {
        self.entry.status = status.to_owned();
        self.entry.message = message.to_owned();
        self.met = false;
    }
}

fn dependent(
    rule: &PolicyRule,
    scope: Scope,
    satisfied: bool,
) -> Result<DependentStatus, PermissionError> {
    let reach = match scope {
        Scope::Namespace => "namespaced",
        Scope::Cluster => "cluster",
    };
    let value =
        serde_json::to_value(rule).map_err(|error| PermissionError::Text(error.to_string()))?;
    let text = hash::go_json::encode(RULE_SHAPE, &value)
        .map_err(|error| PermissionError::Text(error.to_string()))?;
    Ok(DependentStatus {
        group: "rbac.authorization.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "PolicyRule".to_owned(),
        status: if satisfied { "Satisfied" } else { "NotSatisfied" }.to_owned(),
        message: Some(format!("{reach} rule:{text}")),
        ..DependentStatus::default()
    })
}
