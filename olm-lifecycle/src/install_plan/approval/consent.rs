//! Who has to approve what of a plan that several Subscriptions ask for.
//!
//! What a Subscription declares approves for that Subscription alone. What another one needs as well, and has to be
//! asked about, waits for that one: for its own declaration, or for the approval of the plan, which is for all.

use kube_core::ResourceExt;
use olm_types::api::{Approval, InstallPlan, Subscription};

use super::{planned_csvs, versions};
use crate::install_plan::requesters::Requesters;
use crate::subscription::policy;

/// The first of the Subscriptions, which ask for the plan, that has to approve something in it and does not: its name,
/// and the CSVs. Where there is no record of who asks for what, as in v0, whose plans are for all, each has to approve
/// what it is moved to.
pub(super) fn missing<'a>(
    plan: &'a InstallPlan,
    asking: &[&Subscription],
) -> Option<(String, Vec<&'a str>)> {
    let asked = Requesters::of(plan);
    let mut all = asking.iter().filter(|one| has_to_be_asked(one, plan));
    all.find_map(|one| {
        let name = one.name_any();
        let needed = match &asked {
            Some(asked) => needed(plan, asked, &name),
            None => versions::own(one, plan),
        };
        let approved = policy::approved(one).and_then(Result::ok).unwrap_or_default();
        let missing: Vec<&str> = needed.into_iter().filter(|csv| !approved.contains(csv)).collect();
        (!missing.is_empty()).then_some((name, missing))
    })
}

/// What a Subscription that is asked needs of the plan. What is not recorded came later, and is for all to approve.
fn needed<'a>(plan: &'a InstallPlan, asked: &Requesters, name: &str) -> Vec<&'a str> {
    if !asked.approval.contains(name) {
        return Vec::new();
    }
    let needs = |csv: &&str| asked.csvs.get(*csv).is_none_or(|by| by.contains(name));
    planned_csvs(plan).into_iter().filter(needs).collect()
}

/// Whether the plan is a first install to all that ask for it, and each of them declares that such a one is free: they
/// may do so only while it waits. A plan with a record of who asks for what is made anew then.
pub(super) fn is_first_install(plan: &InstallPlan, asking: &[&Subscription]) -> bool {
    Requesters::of(plan).is_none()
        && !asking.is_empty()
        && asking.iter().all(|one| policy::is_first_install(one))
}

/// Whether the Subscription still wants to be asked, as when the plan was made: its first install may need no
/// approval, and a pin approves what leads to its version.
fn has_to_be_asked(subscription: &Subscription, plan: &InstallPlan) -> bool {
    match versions::moves(subscription, plan) {
        true => policy::approval(subscription) == Approval::Manual,
        false => subscription.spec.install_plan_approval == Some(Approval::Manual),
    }
}

#[cfg(test)]
mod tests {
    use olm_types::annotations::{APPROVE, ASKED_BY, FIRST_INSTALL, PIN};
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::super::{Declared, declared};
    use super::*;

    /// A Manual Subscription that moves to the first version of its package.
    fn subscription(name: &str, annotations: Value) -> Subscription {
        let csv = format!("{name}.v1");
        serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "ns", "uid": name, "annotations": annotations},
            "spec": {"name": name, "source": "c", "sourceNamespace": "ns", "installPlanApproval": "Manual",
                "startingCSV": csv},
            "status": {"currentCSV": csv, "lastUpdated": null},
        }))
        .unwrap()
    }

    /// A plan for lamp and shade, which both need the wire, and for what is `more`.
    fn plan(approval: &[&str], more: &[&str]) -> InstallPlan {
        let owner = |name: &str| json!({"apiVersion": "v1", "kind": "Subscription", "name": name, "uid": name});
        let mut names = vec!["lamp.v1", "shade.v1", "wire.v1"];
        names.extend(more);
        let asked = json!({"approval": approval, "csvs": {
            "lamp.v1": ["lamp"], "shade.v1": ["shade"], "wire.v1": ["lamp", "shade"],
        }});
        serde_json::from_value(json!({
            "metadata": {"name": "install-x", "namespace": "ns", "annotations": {ASKED_BY: asked.to_string()},
                "ownerReferences": [owner("lamp"), owner("shade")]},
            "spec": {"approval": "Manual", "clusterServiceVersionNames": names},
            "status": {"phase": "RequiresApproval"},
        }))
        .unwrap()
    }

    const BOTH: &[&str] = &["lamp", "shade"];
    const ALL: &str = "lamp.v1, shade.v1, wire.v1";

    /// Where one plan is for all, without a record, each that it moves approves that for itself.
    #[rstest]
    #[case::each_its_own("lamp.v1, wire.v1", "shade.v1", "")]
    #[case::one_for_both(ALL, "shade.v9", "Subscription shade needs shade.v1 as well")]
    #[case::what_none_is_moved_to("lamp.v1", "shade.v1", "names wire.v1 in its annotation")]
    fn each_approves_for_itself_without_a_record(
        #[case] lamp: &str,
        #[case] shade: &str,
        #[case] expected: &str,
    ) {
        let lamp = subscription("lamp", json!({ APPROVE: lamp }));
        let shade = subscription("shade", json!({ APPROVE: shade }));
        let mut plan = plan(BOTH, &[]);
        plan.metadata.annotations = None;
        match declared(&plan, [&lamp, &shade]) {
            Declared::Nothing => panic!("nothing is declared"),
            Declared::Approved(_) => assert_eq!(expected, ""),
            Declared::Waiting(message) => {
                assert!(!expected.is_empty() && message.contains(expected), "{message}");
            }
        }
    }

    /// What lamp and shade declare, who had to be asked when the plan was made, and what is missing.
    #[rstest]
    #[case::each_its_own(json!({APPROVE: "lamp.v1, wire.v1"}), json!({APPROVE: "shade.v1, wire.v1"}), BOTH, "")]
    #[case::one_for_both(json!({APPROVE: ALL}), json!({}), BOTH, "Subscription shade needs shade.v1, wire.v1 as well")]
    #[case::not_what_both_need(
        json!({APPROVE: ALL}), json!({APPROVE: "shade.v1"}), BOTH, "Subscription shade needs wire.v1 as well"
    )]
    #[case::the_other_one_is_not_asked(json!({APPROVE: ALL}), json!({}), &["lamp"], "")]
    #[case::only_the_other_one_is_asked(
        json!({APPROVE: ALL}), json!({}), &["shade"], "Subscription shade needs shade.v1, wire.v1 as well"
    )]
    #[case::its_first_install_is_free(json!({APPROVE: ALL}), json!({FIRST_INSTALL: "Automatic"}), BOTH, "")]
    #[case::it_is_pinned_to_what_comes(json!({APPROVE: ALL}), json!({PIN: "true"}), BOTH, "")]
    #[case::a_pin_and_a_sibling(
        json!({PIN: "true", APPROVE: ALL}), json!({APPROVE: "shade.v1"}), &["shade"], "Subscription shade needs wire.v1"
    )]
    #[case::what_is_missing_comes_first(
        json!({APPROVE: "lamp.v1"}), json!({}), BOTH, "names shade.v1, wire.v1 in its annotation"
    )]
    #[case::nothing_is_declared(json!({}), json!({}), BOTH, "nothing")]
    fn what_another_one_needs_as_well_waits_for_that_one(
        #[case] lamp: Value,
        #[case] shade: Value,
        #[case] approval: &[&str],
        #[case] expected: &str,
    ) {
        let (lamp, shade) = (subscription("lamp", lamp), subscription("shade", shade));
        match declared(&plan(approval, &[]), [&lamp, &shade]) {
            Declared::Approved(_) => assert_eq!(expected, ""),
            Declared::Nothing => assert_eq!(expected, "nothing"),
            Declared::Waiting(message) => {
                assert!(!expected.is_empty() && message.contains(expected), "{message}");
            }
        }
    }

    /// A step that was added to the plan later: each of those that are asked has to name it.
    #[test]
    fn what_is_not_recorded_is_for_all_to_approve() {
        let shade = subscription("shade", json!({APPROVE: "shade.v1, wire.v1"}));
        let plan = plan(BOTH, &["sink.v1"]);
        let lamp = |approve: &str| subscription("lamp", json!({ APPROVE: approve }));
        let both = "lamp.v1, wire.v1, sink.v1";
        let Declared::Waiting(message) = declared(&plan, [&lamp(both), &shade]) else {
            panic!("it is approved")
        };
        assert!(message.contains("Subscription shade needs sink.v1 as well"), "{message}");
    }
}
