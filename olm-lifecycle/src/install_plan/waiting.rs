//! Plans that wait for a user, and for nothing else.

use std::sync::Arc;

use olm_types::api::{InstallPlan, Subscription};

use super::approval;
use super::continuation::{is_made_by_olm, refers};

/// Whether a plan waits for its approval: a Subscription follows it, or it was made by hand, and no Subscription
/// holds it back. `subscriptions` are those of its namespace.
pub fn waits_for_user(plan: &InstallPlan, subscriptions: &[Arc<Subscription>]) -> bool {
    let follows =
        |one: &Arc<Subscription>| one.metadata.deletion_timestamp.is_none() && refers(one, plan);
    plan.waits_for_approval()
        && plan.metadata.deletion_timestamp.is_none()
        && (!is_made_by_olm(plan) || subscriptions.iter().any(follows))
        && approval::held(plan, subscriptions.iter().map(AsRef::as_ref)).is_none()
}

#[cfg(test)]
mod tests {
    use olm_types::annotations::{PAUSE, PIN, VERSION_RANGE};
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn plan(owner: Option<&str>, approved: bool) -> InstallPlan {
        let owners = owner.map(
            |name| json!([{"apiVersion": "v1", "kind": "Subscription", "name": name, "uid": name}]),
        );
        serde_json::from_value(json!({
            "metadata": {"name": "install-x", "namespace": "ns", "uid": "x", "ownerReferences": owners},
            "spec": {"approval": "Manual", "approved": approved, "clusterServiceVersionNames": ["lamp.v2"]},
            "status": {"phase": "RequiresApproval"},
        }))
        .unwrap()
    }

    fn subscription(annotations: Value, plan: &str) -> Arc<Subscription> {
        let object = json!({
            "metadata": {"name": "lamp", "namespace": "ns", "uid": "lamp", "annotations": annotations},
            "spec": {"name": "lamp", "source": "c", "sourceNamespace": "ns", "startingCSV": "lamp.v1"},
            "status": {"installedCSV": "lamp.v1", "currentCSV": "lamp.v2", "lastUpdated": null,
                "installPlanRef": {"name": plan, "uid": "x"}},
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    #[rstest]
    #[case::followed(json!({}), "install-x", true)]
    #[case::left_for_another_one(json!({}), "install-y", false)]
    #[case::paused(json!({PAUSE: "true"}), "install-x", false)]
    #[case::paused_by_mistake(json!({PAUSE: "yes"}), "install-x", false)]
    #[case::not_paused(json!({PAUSE: "false"}), "install-x", true)]
    #[case::pinned_to_what_is_installed(json!({PIN: "true"}), "install-x", false)]
    #[case::outside_of_the_range(json!({VERSION_RANGE: "<2"}), "install-x", false)]
    fn a_plan_waits_for_a_user_while_it_is_followed_and_not_held(
        #[case] annotations: Value,
        #[case] follows: &str,
        #[case] expected: bool,
    ) {
        let all = [subscription(annotations, follows)];
        assert_eq!(waits_for_user(&plan(Some("lamp"), false), &all), expected);
        assert!(!waits_for_user(&plan(Some("lamp"), true), &all), "it is approved");
    }

    #[test]
    fn a_plan_by_hand_waits_by_itself() {
        assert!(waits_for_user(&plan(None, false), &[]));
        assert!(!waits_for_user(&plan(None, true), &[]));
        assert!(!waits_for_user(&plan(Some("gone"), false), &[]));
    }
}
