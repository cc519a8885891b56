//! Upgrades that a Subscription holds back itself while their InstallPlan is not begun: by its pause, or by a pin or a
//! range that does not accept what it brings.
//!
//! Nothing is due then, and tools that look at the state and at `InstallPlanPending`, as Argo CD does, learn so: the
//! state is AtLatestKnown and the condition is gone, while `UpgradeHeld` says why. What the Subscription moves to and
//! its reference to the plan stay, so that all comes back when the pause goes, or pin or range move.
//! A value that cannot be read changes none of this: the Subscription stays as it was.
//! So it is when the plan has failed, and the pin goes back to what is installed, or the range does not have what the
//! plan brings any more: who takes a change back gets what was there before.

use olm_types::annotations::{PAUSE, PIN};
use olm_types::api::{
    InstallPlan, InstallPlanPhase, Subscription, SubscriptionState, SubscriptionStatus,
};

use super::policy;
use crate::install_plan::approval::versions;

/// The annotation by which the Subscription holds back the upgrade that `plan`, the one that `status` refers to,
/// would bring; nothing when it does not, or when the plan has begun and not failed.
pub(super) fn holding(
    subscription: &Subscription,
    status: &SubscriptionStatus,
    plan: &InstallPlan,
) -> Option<&'static str> {
    let installed = upgraded(status)?;
    match plan.phase() {
        InstallPlanPhase::RequiresApproval => {}
        InstallPlanPhase::Failed => return versions::releases(subscription, Some(status), plan),
        InstallPlanPhase::None
        | InstallPlanPhase::Planning
        | InstallPlanPhase::Installing
        | InstallPlanPhase::Complete => return None,
    }
    if is_paused(subscription) {
        return Some(PAUSE);
    }
    if policy::pinned(subscription) == Some(installed) {
        return Some(PIN);
    }
    versions::hold(subscription, Some(status), plan).map(|hold| hold.key)
}

/// The state of a Subscription that refers to `plan`: it leaves UpgradePending while the upgrade is held, and comes
/// back to it afterwards. From a plan that has failed a resolution brings it back.
pub(super) fn state(
    subscription: &Subscription,
    status: &SubscriptionStatus,
    plan: &InstallPlan,
) -> SubscriptionState {
    let is_held = holding(subscription, status, plan).is_some();
    match status.state {
        SubscriptionState::UpgradePending | SubscriptionState::UpgradeFailed if is_held => {
            SubscriptionState::AtLatestKnown
        }
        SubscriptionState::AtLatestKnown
            if !is_held && upgraded(status).is_some() && plan.has_open_steps() =>
        {
            SubscriptionState::UpgradePending
        }
        state => state,
    }
}

/// Whether the Subscription is paused, and not only held by a value that cannot be read.
pub(super) fn is_paused(subscription: &Subscription) -> bool {
    policy::holding(subscription) == Some(PAUSE) && policy::held_by_mistake(subscription).is_none()
}

/// The installed CSV, where the status says that another one takes its place.
fn upgraded(status: &SubscriptionStatus) -> Option<&str> {
    let installed = status.installed_csv.as_deref().filter(|csv| !csv.is_empty())?;
    let current = status.current_csv.as_deref().filter(|csv| !csv.is_empty())?;
    (installed != current).then_some(installed)
}

#[cfg(test)]
mod tests {
    use olm_types::annotations::{PROPERTIES, VERSION_RANGE};
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    /// A plan that brings version 2.0.0.
    fn plan(phase: &str) -> InstallPlan {
        let package =
            json!({"type": "olm.package", "value": {"packageName": "lamp", "version": "2.0.0"}});
        let properties = json!({"properties": [package]}).to_string();
        let csv = json!({"metadata": {"annotations": {PROPERTIES: properties}}}).to_string();
        let resource = json!({"kind": "ClusterServiceVersion", "name": "lamp.v2", "manifest": csv});
        serde_json::from_value(json!({
            "metadata": {"name": "install-x"},
            "spec": {"clusterServiceVersionNames": ["lamp.v2"]},
            "status": {"phase": phase, "plan": [{"resolving": "lamp.v2", "resource": resource}]},
        }))
        .unwrap()
    }

    fn subscription(annotations: Value, state: &str, csvs: [Option<&str>; 2]) -> Subscription {
        let [installed, current] = csvs;
        serde_json::from_value(json!({
            "metadata": {"name": "lamp", "annotations": annotations},
            "spec": {"name": "lamp", "source": "c", "sourceNamespace": "ns", "startingCSV": "lamp.v1"},
            "status": {"state": state, "installedCSV": installed, "currentCSV": current, "lastUpdated": null},
        }))
        .unwrap()
    }

    const NEXT: [Option<&str>; 2] = [Some("lamp.v1"), Some("lamp.v2")];
    const FIRST: [Option<&str>; 2] = [None, Some("lamp.v1")];
    const THERE: [Option<&str>; 2] = [Some("lamp.v1"), Some("lamp.v1")];

    /// What is declared, the phase of the plan, installed and current CSV; the state before and after, and what
    /// holds.
    #[rstest]
    #[case::paused(json!({PAUSE: "true"}), "RequiresApproval", NEXT, "UpgradePending", "AtLatestKnown", Some(PAUSE))]
    #[case::paused_still(json!({PAUSE: "true"}), "RequiresApproval", NEXT, "AtLatestKnown", "AtLatestKnown", Some(PAUSE))]
    #[case::paused_no_more(json!({PAUSE: "false"}), "RequiresApproval", NEXT, "AtLatestKnown", "UpgradePending", None)]
    #[case::begun_since(json!({}), "Installing", NEXT, "AtLatestKnown", "UpgradePending", None)]
    #[case::begun_before(json!({PAUSE: "true"}), "Installing", NEXT, "UpgradePending", "UpgradePending", None)]
    #[case::done(json!({}), "Complete", NEXT, "AtLatestKnown", "AtLatestKnown", None)]
    #[case::failed(json!({PAUSE: "true"}), "Failed", NEXT, "UpgradeFailed", "UpgradeFailed", None)]
    #[case::first(json!({PAUSE: "true"}), "RequiresApproval", FIRST, "UpgradePending", "UpgradePending", None)]
    #[case::at_the_newest(json!({}), "RequiresApproval", THERE, "AtLatestKnown", "AtLatestKnown", None)]
    #[case::pinned(json!({PIN: "true"}), "RequiresApproval", NEXT, "UpgradePending", "AtLatestKnown", Some(PIN))]
    #[case::not_pinned(json!({PIN: "false"}), "RequiresApproval", NEXT, "AtLatestKnown", "UpgradePending", None)]
    #[case::pinned_and_begun(json!({PIN: "true"}), "Installing", NEXT, "UpgradePending", "UpgradePending", None)]
    #[case::both(json!({PIN: "true", PAUSE: "true"}), "RequiresApproval", NEXT, "UpgradePending", "AtLatestKnown", Some(PAUSE))]
    #[case::outside_of_the_range(json!({VERSION_RANGE: "<2"}), "RequiresApproval", NEXT, "UpgradePending", "AtLatestKnown", Some(VERSION_RANGE))]
    #[case::in_the_range(json!({VERSION_RANGE: "<3"}), "RequiresApproval", NEXT, "AtLatestKnown", "UpgradePending", None)]
    #[case::outside_once_it_has_begun(json!({VERSION_RANGE: "<2"}), "Installing", NEXT, "UpgradePending", "UpgradePending", None)]
    #[case::failed_and_pinned_back(json!({PIN: "true"}), "Failed", NEXT, "UpgradePending", "AtLatestKnown", Some(PIN))]
    #[case::failed_past_a_failure(json!({PIN: "true"}), "Failed", NEXT, "UpgradeFailed", "AtLatestKnown", Some(PIN))]
    #[case::failed_outside_of_the_range(json!({VERSION_RANGE: "<2"}), "Failed", NEXT, "UpgradePending", "AtLatestKnown", Some(VERSION_RANGE))]
    #[case::failed_in_the_range(json!({VERSION_RANGE: "<3"}), "Failed", NEXT, "UpgradePending", "UpgradePending", None)]
    #[case::failed_at_first(json!({VERSION_RANGE: "<1"}), "Failed", FIRST, "UpgradePending", "UpgradePending", None)]
    #[case::unreadable(json!({PAUSE: "yes"}), "RequiresApproval", NEXT, "UpgradePending", "UpgradePending", None)]
    #[case::unreadable_range(json!({VERSION_RANGE: "=>1"}), "RequiresApproval", NEXT, "UpgradePending", "UpgradePending", None)]
    fn an_upgrade_that_is_held_is_not_pending(
        #[case] annotations: Value,
        #[case] phase: &str,
        #[case] csvs: [Option<&str>; 2],
        #[case] before: &str,
        #[case] after: &str,
        #[case] expected: Option<&str>,
    ) {
        let subscription = subscription(annotations, before, csvs);
        let status = subscription.status.clone().unwrap();
        let plan = plan(phase);
        assert_eq!(holding(&subscription, &status, &plan), expected);
        assert_eq!(state(&subscription, &status, &plan).as_str(), after);
    }

    /// One that moves away from what is installed is no hold: its plan is approved by it.
    #[test]
    fn a_pin_to_the_next_version_holds_nothing() {
        let mut moved = subscription(json!({PIN: "true"}), "AtLatestKnown", NEXT);
        moved.spec.starting_csv = Some("lamp.v2".to_owned());
        let status = moved.status.clone().unwrap();
        let plan = plan("RequiresApproval");
        assert_eq!(holding(&moved, &status, &plan), None);
        assert_eq!(state(&moved, &status, &plan), SubscriptionState::UpgradePending);
        moved.spec.starting_csv = Some("lamp.v9".to_owned());
        assert_eq!(holding(&moved, &status, &plan), Some(PIN), "it is not known to lead there");
        assert_eq!(state(&moved, &status, &plan), SubscriptionState::AtLatestKnown);
        let failed = self::plan("Failed");
        assert_eq!(holding(&moved, &status, &failed), None, "it may have been a step");
    }
}
