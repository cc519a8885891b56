//! How Argo CD judges Subscriptions: the facts of its rule for this kind, which looks at `state` and at
//! conditions of v0.

use serde_json::Value;

use super::states::State;

/// `Healthy`, `Progressing` or `Degraded`.
pub(super) fn health(state: &State) -> &'static str {
    let value = state.value();
    let status = &value["status"];
    let conditions = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    // Who asks for approval is well while it is given time, unless nothing is installed yet.
    let waits = value["spec"]["installPlanApproval"] == "Manual"
        && status["installedCSV"].is_string()
        && conditions
            .iter()
            .any(|one| is(one, "InstallPlanPending") && one["reason"] == "RequiresApproval");
    let is_degraded = conditions.iter().any(|one| {
        let failed = ["CatalogSourcesUnhealthy", "InstallPlanFailed", "ResolutionFailed"];
        let missing =
            one["type"] == "InstallPlanMissing" && one["reason"] != "ReferencedInstallPlanNotFound";
        failed.iter().any(|kind| is(one, kind)) || missing
    });
    let stands = status["state"].as_str().unwrap_or_default();
    let is_under_way =
        stands == "UpgradePending" || conditions.iter().any(|one| is(one, "InstallPlanPending"));
    // A state that is not known yet counts whoever is asked.
    let is_pending = ["", "UpgradeAvailable"].contains(&stands) || (is_under_way && !waits);
    match (is_degraded || stands == "UpgradeFailed", is_pending) {
        (true, _) => "Degraded",
        (false, true) => "Progressing",
        (false, false) => "Healthy",
    }
}

/// Whether it is Degraded because of its catalog, or of a resolution that was prevented.
pub(super) fn is_unhealthy_by_catalog(state: &State) -> bool {
    let value = state.value();
    let conditions = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|one| {
        is(one, "CatalogSourcesUnhealthy")
            || (is(one, "ResolutionFailed") && one["reason"] == "ErrorPreventedResolution")
    })
}

fn is(condition: &Value, kind: &str) -> bool {
    condition["type"] == kind && condition["status"] == "True"
}
