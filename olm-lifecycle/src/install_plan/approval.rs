//! Approvals that Subscriptions declare.
//!
//! The annotation `olm-rs.dev/approve` of a Subscription names CSVs, separated by commas: an InstallPlan of
//! the Subscription that brings these and no others is approved, whenever it appears. So an approval can
//! be kept with the manifest of the Subscription, where v0 leaves it to whoever knows the generated name of
//! the plan. The plan records which Subscriptions approved it, with what value.

use std::collections::BTreeSet;

use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::annotations::{APPROVE, APPROVED_BY, PAUSE};
use olm_types::api::{ClusterServiceVersion, InstallPlan, Subscription};
use serde_json::{Value, json};

use crate::subscription::policy;
use crate::writes::target_of;

/// How messages begin that say for what an approval is missing.
const WAITS: &str = "waits for approval";

/// What the Subscriptions of a plan say about it.
#[derive(Debug, PartialEq)]
pub(super) enum Declared {
    /// None of them approves any CSV.
    Nothing,
    /// It brings what none of them approves, or one of them is malformed; in words for its status.
    Waiting(String),
    /// Everything that it brings is approved: the write that says so.
    Approved(Box<Effect>),
}

/// What the Subscriptions that a plan was made for declare about its approval. `subscriptions` are those
/// of its namespace.
pub(super) fn declared<'a>(
    plan: &InstallPlan,
    subscriptions: impl IntoIterator<Item = &'a Subscription>,
) -> Declared {
    let asking: Vec<&Subscription> =
        subscriptions.into_iter().filter(|one| asks_for(one, plan)).collect();
    if let Some(message) = paused(plan, asking.iter().copied()) {
        return Declared::Waiting(message);
    }
    let mut approving = Vec::new();
    for subscription in asking {
        match policy::approved(subscription) {
            None => {}
            Some(Ok(names)) => approving.push((subscription, names)),
            Some(Err(problem)) => {
                let name = subscription.name_any();
                return Declared::Waiting(format!("{WAITS}: Subscription {name}: {problem}"));
            }
        }
    }
    if approving.is_empty() { Declared::Nothing } else { judge(plan, &approving) }
}

/// Why a plan that is approved is not begun: a Subscription that it was made for is paused.
pub(super) fn paused<'a>(
    plan: &InstallPlan,
    subscriptions: impl IntoIterator<Item = &'a Subscription>,
) -> Option<String> {
    let mut asking = subscriptions.into_iter().filter(|one| asks_for(one, plan));
    let paused = asking.find(|one| policy::is_paused(one))?;
    Some(format!("{WAITS}: Subscription {} has annotation {PAUSE}", paused.name_any()))
}

/// Whether a message is one of those that are made here.
pub(super) fn is_about_approval(message: &str) -> bool {
    message.starts_with(WAITS)
}

fn judge(plan: &InstallPlan, approving: &[(&Subscription, Vec<&str>)]) -> Declared {
    let brought = brought(plan);
    let approved: BTreeSet<&str> = approving.iter().flat_map(|(_, names)| names).copied().collect();
    let missing: Vec<_> = brought.difference(&approved).copied().collect();
    match missing.is_empty() && !brought.is_empty() {
        true => Declared::Approved(Box::new(approve(plan, approving))),
        false => Declared::Waiting(format!(
            "{WAITS}: no Subscription of the InstallPlan names {} in its annotation {APPROVE}",
            missing.join(", ")
        )),
    }
}

/// Every CSV that the plan would create, dependencies included.
fn brought(plan: &InstallPlan) -> BTreeSet<&str> {
    let status = plan.status.iter();
    let steps = status.clone().flat_map(|status| &status.plan).map(|step| &step.resource);
    let csvs = steps.filter(|resource| resource.kind == ClusterServiceVersion::KIND);
    let looked_up = status.flat_map(|status| &status.bundle_lookups);
    let named = plan.spec.cluster_service_version_names.iter().map(String::as_str);
    named
        .chain(csvs.map(|resource| resource.name.as_str()))
        .chain(looked_up.map(|lookup| lookup.identifier.as_str()))
        .collect()
}

/// The plan as it was looked at is approved; one that changed since is refused by its version.
fn approve(plan: &InstallPlan, approving: &[(&Subscription, Vec<&str>)]) -> Effect {
    let by: Vec<Value> = approving
        .iter()
        .map(|(subscription, _)| {
            json!({
                "subscription": subscription.name_any(),
                "approve": subscription.annotations().get(APPROVE),
                "resourceVersion": subscription.resource_version(),
            })
        })
        .collect();
    let patch = json!({
        "metadata": {
            "resourceVersion": plan.resource_version(),
            "annotations": {APPROVED_BY: Value::Array(by).to_string()},
        },
        "spec": {"approved": true},
    });
    Effect::merge(target_of(plan), patch, None)
}

/// Whether the plan was made for a Subscription that stays.
fn asks_for(subscription: &Subscription, plan: &InstallPlan) -> bool {
    let uid = subscription.metadata.uid.as_deref();
    let mut owners = plan.owner_references().iter();
    subscription.metadata.deletion_timestamp.is_none()
        && owners.any(|owner| owner.kind == Subscription::KIND && Some(owner.uid.as_str()) == uid)
}

#[cfg(test)]
mod tests {
    use olm_effect::Action;
    use rstest::rstest;

    use super::*;

    fn subscription(name: &str, approve: Option<&str>) -> Subscription {
        let annotations = approve.map(|value| json!({APPROVE: value}));
        serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "7",
                "annotations": annotations},
            "spec": {"name": name, "source": "c", "sourceNamespace": "ns"},
        }))
        .unwrap()
    }

    fn plan(names: &[&str], step: &str) -> InstallPlan {
        let owner = |name: &str| {
            json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "name": name,
                "uid": name})
        };
        serde_json::from_value(json!({
            "metadata": {"name": "install-x", "namespace": "ns", "resourceVersion": "3",
                "ownerReferences": [owner("lamp"), owner("shade")]},
            "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": names},
            "status": {"phase": "RequiresApproval", "catalogSources": [], "plan": [{
                "resolving": step, "status": "Unknown",
                "resource": {"group": "", "version": "v1alpha1", "kind": "ClusterServiceVersion", "name": step,
                    "sourceName": "c", "sourceNamespace": "ns"},
            }]},
        }))
        .unwrap()
    }

    fn said(lamp: Option<&str>, shade: Option<&str>, dependency: &str) -> Declared {
        let subscriptions = [subscription("lamp", lamp), subscription("shade", shade)];
        declared(&plan(&["lamp.v2", "shade.v1"], dependency), &subscriptions)
    }

    #[rstest]
    #[case::no_annotation(None, None, "lamp.v2", "")]
    #[case::one_of_two(Some("lamp.v2"), None, "lamp.v2", "names shade.v1 in its")]
    #[case::another_version(Some("lamp.v1,shade.v1"), None, "lamp.v2", "names lamp.v2 in its")]
    #[case::a_dependency(Some("lamp.v2, shade.v1"), None, "wire.v1", "names wire.v1 in its")]
    #[case::empty(
        Some(""),
        None,
        "lamp.v2",
        "Subscription lamp: annotation olm-rs.dev/approve has to be"
    )]
    #[case::malformed(Some("lamp.v2"), Some("shade v1"), "lamp.v2", "\"shade v1\" is none")]
    #[case::capitals(Some("Lamp.v2"), None, "lamp.v2", "\"Lamp.v2\" is none")]
    fn what_is_not_approved_waits(
        #[case] lamp: Option<&str>,
        #[case] shade: Option<&str>,
        #[case] dependency: &str,
        #[case] expected: &str,
    ) {
        match said(lamp, shade, dependency) {
            Declared::Nothing => assert_eq!(expected, ""),
            Declared::Waiting(message) => {
                assert!(!expected.is_empty() && message.contains(expected), "{message}");
            }
            Declared::Approved(_) => panic!("it is approved"),
        }
    }

    #[rstest]
    #[case::in_one_place(Some("lamp.v2, shade.v1"), None)]
    #[case::each_its_own(Some("lamp.v2"), Some("shade.v1"))]
    #[case::and_older_ones(Some("lamp.v1,lamp.v2,shade.v1"), None)]
    fn a_plan_that_brings_what_is_named_is_approved(
        #[case] lamp: Option<&str>,
        #[case] shade: Option<&str>,
    ) {
        let Declared::Approved(effect) = said(lamp, shade, "lamp.v2") else {
            panic!("it is not approved")
        };
        let Action::MergePatch { patch, .. } = effect.action else { panic!("no patch") };
        assert_eq!(patch["spec"], json!({"approved": true}));
        assert_eq!(patch["metadata"]["resourceVersion"], "3");
        let by: Value =
            serde_json::from_str(patch["metadata"]["annotations"][APPROVED_BY].as_str().unwrap())
                .unwrap();
        assert_eq!(by[0]["subscription"], "lamp");
        assert_eq!(by[0]["approve"], lamp.unwrap());
        assert_eq!(by[0]["resourceVersion"], "7");
    }

    #[test]
    fn a_paused_subscription_holds_the_plan_that_was_made_for_it() {
        let paused_with = |value: &str| {
            let mut lamp = subscription("lamp", Some("lamp.v2,shade.v1"));
            lamp.annotations_mut().insert(PAUSE.to_owned(), value.to_owned());
            lamp
        };
        let plan = plan(&["lamp.v2", "shade.v1"], "lamp.v2");
        let expected = "waits for approval: Subscription lamp has annotation olm-rs.dev/pause";
        let lamp = paused_with("true");
        assert_eq!(declared(&plan, [&lamp]), Declared::Waiting(expected.to_owned()));
        assert_eq!(paused(&plan, [&lamp]).as_deref(), Some(expected));
        assert_eq!(paused(&plan, [&paused_with("false")]), None);
        let mut other = paused_with("true");
        other.metadata.uid = Some("other".to_owned());
        assert_eq!(paused(&plan, [&other]), None);
    }

    #[test]
    fn a_subscription_that_the_plan_was_not_made_for_approves_nothing() {
        let mut other = subscription("lamp", Some("lamp.v2,shade.v1"));
        other.metadata.uid = Some("other".to_owned());
        assert_eq!(
            declared(&plan(&["lamp.v2", "shade.v1"], "lamp.v2"), [&other]),
            Declared::Nothing
        );
        let mut going = subscription("lamp", Some("lamp.v2,shade.v1"));
        going.metadata.deletion_timestamp =
            Some(serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap());
        assert_eq!(
            declared(&plan(&["lamp.v2", "shade.v1"], "lamp.v2"), [&going]),
            Declared::Nothing
        );
    }
}
