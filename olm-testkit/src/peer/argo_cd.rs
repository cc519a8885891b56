//! How Argo CD judges Subscriptions: the facts of its rule for this kind, which looks at `state` and at conditions
//! of v0.

use serde_json::Value;

/// `Healthy`, `Progressing` or `Degraded`.
pub fn health(subscription: &Value) -> &'static str {
    let status = &subscription["status"];
    // Before OLM has said anything, nothing else is looked at.
    let Some(conditions) = status["conditions"].as_array() else { return "Progressing" };
    // Who asks for approval is well while it is given time, unless nothing is installed yet.
    let waits = subscription["spec"]["installPlanApproval"] == "Manual"
        && status["installedCSV"].is_string()
        && conditions
            .iter()
            .any(|one| is(one, "InstallPlanPending") && one["reason"] == "RequiresApproval");
    let state = status["state"].as_str().unwrap_or_default();
    let is_under_way =
        state == "UpgradePending" || conditions.iter().any(|one| is(one, "InstallPlanPending"));
    // A state that is not known yet counts whoever is asked.
    let is_pending = ["", "UpgradeAvailable"].contains(&state) || (is_under_way && !waits);
    match (conditions.iter().any(degrades) || state == "UpgradeFailed", is_pending) {
        (true, _) => "Degraded",
        (false, true) => "Progressing",
        (false, false) => "Healthy",
    }
}

/// Whether it is Degraded because of its catalog, or of a resolution that was prevented.
pub fn is_unhealthy_by_catalog(subscription: &Value) -> bool {
    let conditions = subscription["status"]["conditions"].as_array().map(Vec::as_slice);
    conditions.unwrap_or_default().iter().any(|one| {
        is(one, "CatalogSourcesUnhealthy")
            || (is(one, "ResolutionFailed") && one["reason"] == "ErrorPreventedResolution")
    })
}

/// Whether a condition alone makes a Subscription Degraded. That a plan is missing does so whatever its status is.
fn degrades(condition: &Value) -> bool {
    let kinds = ["CatalogSourcesUnhealthy", "InstallPlanFailed", "ResolutionFailed"];
    kinds.iter().any(|kind| is(condition, kind))
        || condition["type"] == "InstallPlanMissing"
            && condition["reason"] != "ReferencedInstallPlanNotFound"
}

fn is(condition: &Value, kind: &str) -> bool {
    condition["type"] == kind && condition["status"] == "True"
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn condition(kind: &str, status: &str, reason: &str) -> Value {
        json!({"type": kind, "status": status, "reason": reason})
    }

    fn pending(reason: &str) -> Value {
        condition("InstallPlanPending", "True", reason)
    }

    /// What is installed, in which state, with which condition.
    fn judged(approval: &str, installed: Option<&str>, state: &str, condition: Value) -> String {
        let subscription = json!({
            "spec": {"installPlanApproval": approval},
            "status": {"installedCSV": installed, "state": state, "conditions": [condition]},
        });
        health(&subscription).to_owned()
    }

    /// Each fact of the rule, of a Subscription that has something installed.
    #[rstest]
    #[case::state_is_empty("", Value::Null, "Progressing")]
    #[case::upgrade_available("UpgradeAvailable", Value::Null, "Progressing")]
    #[case::upgrade_pending("UpgradePending", Value::Null, "Progressing")]
    #[case::upgrade_failed("UpgradeFailed", Value::Null, "Degraded")]
    #[case::at_latest_known("AtLatestKnown", Value::Null, "Healthy")]
    #[case::plan_pending("AtLatestKnown", pending("Installing"), "Progressing")]
    #[case::plan_waits("AtLatestKnown", pending("RequiresApproval"), "Progressing")]
    #[case::plan_done("AtLatestKnown", condition("InstallPlanPending", "False", ""), "Healthy")]
    #[case::catalog("AtLatestKnown", condition("CatalogSourcesUnhealthy", "True", ""), "Degraded")]
    #[case::well("AtLatestKnown", condition("CatalogSourcesUnhealthy", "False", ""), "Healthy")]
    #[case::refused("AtLatestKnown", condition("ResolutionFailed", "True", ""), "Degraded")]
    #[case::plan_failed("AtLatestKnown", condition("InstallPlanFailed", "True", ""), "Degraded")]
    #[case::plan_missing("AtLatestKnown", condition("InstallPlanMissing", "True", ""), "Degraded")]
    #[case::plan_gone(
        "AtLatestKnown",
        condition("InstallPlanMissing", "True", "ReferencedInstallPlanNotFound"),
        "Healthy"
    )]
    #[case::held("AtLatestKnown", condition("UpgradeHeld", "True", "Pinned"), "Healthy")]
    #[case::failed_now("UpgradePending", condition("InstallPlanFailed", "True", ""), "Degraded")]
    fn facts(#[case] state: &str, #[case] condition: Value, #[case] expected: &str) {
        assert_eq!(judged("Automatic", Some("x.v1"), state, condition), expected);
    }

    /// An upgrade that waits for the approval that its Subscription itself asks for is no reason to wait.
    #[rstest]
    #[case::upgrade("Manual", Some("x.v1"), "UpgradePending", "RequiresApproval", "Healthy")]
    #[case::first_install("Manual", None, "UpgradePending", "RequiresApproval", "Progressing")]
    #[case::other("Automatic", Some("x.v1"), "UpgradePending", "RequiresApproval", "Progressing")]
    #[case::approved("Manual", Some("x.v1"), "UpgradePending", "Installing", "Progressing")]
    #[case::no_state("Manual", Some("x.v1"), "", "RequiresApproval", "Progressing")]
    fn approvals(
        #[case] approval: &str,
        #[case] installed: Option<&str>,
        #[case] state: &str,
        #[case] reason: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(judged(approval, installed, state, pending(reason)), expected);
    }

    #[test]
    fn without_conditions_nothing_is_known() {
        let subscription = json!({"status": {"state": "AtLatestKnown"}});
        assert_eq!(health(&subscription), "Progressing");
        assert_eq!(health(&json!({})), "Progressing");
    }

    #[test]
    fn a_catalog_explains_what_is_degraded() {
        let of = |condition: Value| json!({"status": {"conditions": [condition]}});
        let prevented = condition("ResolutionFailed", "True", "ErrorPreventedResolution");
        let refused = condition("ResolutionFailed", "True", "ConstraintsNotSatisfiable");
        assert!(is_unhealthy_by_catalog(&of(condition("CatalogSourcesUnhealthy", "True", ""))));
        assert!(is_unhealthy_by_catalog(&of(prevented)));
        assert!(!is_unhealthy_by_catalog(&of(refused)));
        assert!(!is_unhealthy_by_catalog(&json!({})));
    }
}
