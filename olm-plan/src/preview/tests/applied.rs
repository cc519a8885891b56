//! Subscriptions as they are in a Git repository.

use olm_types::annotations::{
    APPROVE, FIRST_INSTALL, LAST_APPLIED_CONFIGURATION, PAUSE, PIN, VERSION_RANGE,
};

use super::*;

/// A Subscription without a status, with annotations and more of its spec.
fn subscription(annotations: Value, more: &[(&str, &str)]) -> Value {
    let mut manifest = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
        "metadata": {"name": "tea", "namespace": HOME, "annotations": annotations},
        "spec": {"name": "kettle", "channel": "stable", "source": "kitchen", "sourceNamespace": "olm",
            "installPlanApproval": "Manual"}});
    for (field, value) in more {
        manifest["spec"][*field] = json!(value);
    }
    manifest
}

fn group() -> Value {
    json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "g", "namespace": HOME}, "spec": {}})
}

fn applying(manifests: Vec<Value>) -> Operation {
    Operation::Apply { manifests, field_manager: None }
}

fn apply(manifests: Vec<Value>, objects: &[Value]) -> Preview {
    complete(applying(manifests), &known(objects))
}

/// The CSV of each InstallPlan, and whether it waits for a user.
fn hops(preview: &Preview) -> Vec<(&str, bool)> {
    preview.hops.iter().map(|hop| (hop.bundles[0].csv.as_str(), hop.waits())).collect()
}

/// What a new Subscription declares about its approval.
#[rstest]
#[case::nothing(json!({}), &[], &[("kettle.v3", true)])]
#[case::the_first(json!({FIRST_INSTALL: "Automatic"}), &[], &[("kettle.v3", false)])]
#[case::named(json!({APPROVE: "kettle.v3"}), &[], &[("kettle.v3", false)])]
#[case::another(json!({APPROVE: "kettle.v2"}), &[], &[("kettle.v3", true)])]
#[case::pinned(json!({PIN: "true"}), &[("startingCSV", "kettle.v2")], &[("kettle.v2", false)])]
#[case::starts_at(json!({}), &[("startingCSV", "kettle.v2")], &[("kettle.v2", true)])]
#[case::from_there(json!({FIRST_INSTALL: "Automatic"}), &[("startingCSV", "kettle.v2")],
    &[("kettle.v2", false), ("kettle.v3", true)])]
fn approvals_are_those_that_are_declared(
    #[case] annotations: Value,
    #[case] more: &[(&str, &str)],
    #[case] expected: &[(&str, bool)],
) {
    let preview = apply(vec![subscription(annotations, more), group()], &[]);
    assert_eq!(hops(&preview), expected, "{:?}", preview.problems);
    assert_eq!((preview.action, preview.subscription.as_str()), ("install", "tea"));
    let found = lines(&preview);
    assert!(found.contains(&"+ OperatorGroup g".to_owned()), "{found:#?}");
}

#[test]
fn what_is_paused_is_a_problem() {
    let preview = apply(vec![subscription(json!({PAUSE: "true"}), &[]), group()], &[]);
    assert_eq!(preview.problems, [format!("Subscription tea has annotation {PAUSE}")]);
    assert!(preview.hops.is_empty());
}

/// Only what is in the manifests is applied.
#[test]
fn without_a_group_nothing_is_installed() {
    let manifest = subscription(json!({FIRST_INSTALL: "Automatic"}), &[]);
    let preview = apply(vec![manifest], &[]);
    let problem = "namespace ns has no OperatorGroup: OLM installs nothing until there is one";
    assert_eq!(preview.problems, [problem]);
    let found = lines(&preview);
    assert!(!found.iter().any(|line| line.contains("OperatorGroup")), "{found:#?}");
}

/// One that is there is changed, and what came of it stays known.
#[test]
fn a_changed_subscription_is_an_upgrade() {
    let objects = installed("Manual");
    let mut manifest = subscription(json!({APPROVE: "kettle.v2"}), &[]);
    manifest["metadata"]["name"] = json!("kettle");
    manifest["metadata"]["uid"] = json!("of another cluster");
    let preview = apply(vec![manifest], &objects);
    assert_eq!(preview.action, "upgrade");
    assert_eq!(hops(&preview), [("kettle.v2", false), ("kettle.v3", true)]);
    let found = lines(&preview);
    assert!(found.contains(&"~ Subscription kettle".to_owned()), "{found:#?}");
    assert!(found.contains(&"+ ClusterServiceVersion kettle.v2".to_owned()), "{found:#?}");
}

/// What the manifest has no more goes, where a manifest brought it.
#[rstest]
#[case::applied(true, &[("kettle.v2", true)])]
#[case::of_another(false, &[])]
fn a_pause_ends_when_the_manifest_lacks_it(
    #[case] was_applied: bool,
    #[case] expected: &[(&str, bool)],
) {
    let mut objects = installed("Manual");
    let live = objects.iter_mut().find(|one| one["kind"] == "Subscription").unwrap();
    live["metadata"]["annotations"] = json!({PAUSE: "true"});
    if was_applied {
        let earlier = subscription(json!({PAUSE: "true"}), &[]).to_string();
        live["metadata"]["annotations"][LAST_APPLIED_CONFIGURATION] = json!(earlier);
    }
    let mut manifest = subscription(json!({}), &[]);
    manifest["metadata"]["name"] = json!("kettle");
    let preview = apply(vec![manifest], &objects);
    assert_eq!(hops(&preview), expected, "{:?}", preview.problems);
    assert_eq!(preview.problems.is_empty(), was_applied);
}

#[test]
fn who_applies_has_to_be_known() {
    let mut objects = installed("Manual");
    let live = objects.iter_mut().find(|one| one["kind"] == "Subscription").unwrap();
    let entry = |manager: &str| json!({"manager": manager, "operation": "Apply", "fieldsV1": {}});
    live["metadata"]["managedFields"] = json!([entry("argocd-controller"), entry("kubectl")]);
    let mut manifest = subscription(json!({}), &[]);
    manifest["metadata"]["name"] = json!("kettle");
    let known = known(&objects);
    let outcome = |field_manager: Option<&str>| {
        let (manifests, field_manager) = (vec![manifest.clone()], field_manager.map(str::to_owned));
        let asked = asked(Operation::Apply { manifests, field_manager });
        preview(&asked, &known, &universe(&BundleContent::Inline)).map(drop)
    };
    assert!(outcome(Some("kubectl")).is_ok());
    let refused = outcome(None).unwrap_err().to_string();
    let expected = "fields of Subscription kettle were applied by several managers: \
        argocd-controller, kubectl; --field-manager names the one that applies the file";
    assert_eq!(refused, expected);
}

/// v0 does not know annotations of olm-rs: those that approve, and those that hold back.
#[rstest]
#[case::approved(APPROVE, "kettle.v3")]
#[case::paused(PAUSE, "true")]
#[case::of_a_range(VERSION_RANGE, "<2.0.0")]
fn v0_waits_for_a_user_whatever_is_declared(#[case] annotation: &str, #[case] value: &str) {
    let manifest = subscription(json!({annotation: value}), &[]);
    let mut asked = asked(applying(vec![manifest, group()]));
    asked.settings.flavour = crate::settings::Flavour::V0;
    let outcome = preview(&asked, &known(&[]), &universe(&BundleContent::Inline)).unwrap();
    let Outcome::Preview(preview) = outcome else { panic!("{outcome:?}") };
    assert_eq!(hops(&preview), [("kettle.v3", true)]);
}

#[rstest]
#[case::none(0)]
#[case::two(2)]
fn there_is_one_subscription(#[case] count: usize) {
    let manifests = vec![subscription(json!({}), &[]); count];
    let asked = asked(applying(manifests));
    let refused = preview(&asked, &known(&[]), &universe(&BundleContent::Inline));
    assert_eq!(refused.unwrap_err(), NoPreview::NotOneSubscription);
}
