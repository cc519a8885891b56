//! The table of docs/readiness.md, and when it is a reason for a write.

use olm_effect::Action;
use olm_types::annotations::{PAUSE, PIN, VERSION_RANGE};
use olm_types::api::{InstallPlanPhase, InstallPlanStatus};
use olm_types::conditions::readiness::{ALL, READY, RECONCILING, STALLED};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::subscription::conditions;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn subscription(manual: bool, annotations: Value, status: Value) -> Subscription {
    let approval = if manual { "Manual" } else { "Automatic" };
    serde_json::from_value(json!({
        "metadata": {"name": "lamp", "namespace": "ns", "generation": 3, "annotations": annotations},
        "spec": {"name": "lamp", "source": "c", "sourceNamespace": "ns", "installPlanApproval": approval,
            "startingCSV": "lamp.v2"},
        "status": status,
    }))
    .unwrap()
}

fn operator(phase: &str) -> Option<CsvState> {
    let phase = Some(phase).filter(|phase| !phase.is_empty())?;
    let (reason, message) = ("InstallCheckFailed".to_owned(), "no Pod comes up".to_owned());
    Some(CsvState { phase: CsvPhase::from(phase), reason, message })
}

fn plan(phase: &str) -> Option<InstallPlan> {
    let phase = Some(phase).filter(|phase| !phase.is_empty())?;
    let mut plan = InstallPlan::new("install-x", Default::default());
    plan.spec.cluster_service_version_names = vec!["lamp.v2".to_owned()];
    let phase = InstallPlanPhase::from(phase);
    plan.status = Some(InstallPlanStatus { phase, ..InstallPlanStatus::default() });
    Some(plan)
}

/// The status that is written, unless none is.
fn written(subscription: &Subscription, view: &View<'_>) -> Option<SubscriptionStatus> {
    let status = subscription.status.clone().unwrap_or_default();
    let effect = write(subscription, status, view, now())?;
    let Action::Status { object, .. } = effect.action else { panic!("{effect:?}") };
    serde_json::from_value::<Subscription>(object).unwrap().status
}

/// `Ready=False Installing, Reconciling`.
fn reported(status: &SubscriptionStatus) -> String {
    let ready = conditions::get(status, READY).unwrap();
    let others = [RECONCILING, STALLED].iter().filter_map(|kind| {
        let other = conditions::get(status, kind)?;
        assert_eq!((other.status.as_str(), &other.reason), ("True", &ready.reason));
        Some(format!(", {kind}"))
    });
    let others: String = others.collect();
    format!("Ready={} {}{others}", ready.status, ready.reason.as_deref().unwrap())
}

fn found(subscription: &Subscription, csv: &str, phase: &str) -> String {
    let (operator, plan) = (operator(csv), plan(phase));
    let view = View { operator: operator.as_ref(), plan: plan.as_ref(), is_observed: true };
    reported(&written(subscription, &view).unwrap())
}

fn condition(kind: &str, reason: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": reason, "message": "m"})
}

const INSTALLED: &str =
    r#"{"installedCSV": "lamp.v1", "currentCSV": "lamp.v1", "state": "AtLatestKnown"}"#;
const PENDING: &str =
    r#"{"installedCSV": "lamp.v1", "currentCSV": "lamp.v2", "state": "UpgradePending"}"#;
const FRESH: &str = r#"{"currentCSV": "lamp.v1", "state": "UpgradePending"}"#;

/// Status, what conditions are true in it, the phases of CSV and plan.
#[rstest]
#[case::fresh("{}", "", "", "Ready=False Installing, Reconciling")]
#[case::first_plan(FRESH, "", "Installing", "Ready=False Installing, Reconciling")]
#[case::first_plan_waits(FRESH, "", "RequiresApproval", "Ready=False RequiresApproval")]
#[case::first_plan_failed(FRESH, "", "Failed", "Ready=False InstallPlanFailed, Stalled")]
#[case::csv_is_not_there_yet(FRESH, "", "Complete", "Ready=False Installing, Reconciling")]
#[case::csv_pending(INSTALLED, "Pending", "Complete", "Ready=False Installing, Reconciling")]
#[case::csv_installing(INSTALLED, "Installing", "Complete", "Ready=False Installing, Reconciling")]
#[case::csv_failed(INSTALLED, "Failed", "Complete", "Ready=False InstallCheckFailed, Stalled")]
#[case::csv_deleted(INSTALLED, "", "Complete", "Ready=False CSVMissing, Stalled")]
#[case::ready(INSTALLED, "Succeeded", "Complete", "Ready=True Succeeded")]
#[case::its_plan_was_collected(INSTALLED, "Succeeded", "", "Ready=True Succeeded")]
#[case::steps_are_to_come(
    INSTALLED,
    "Succeeded",
    "Installing",
    "Ready=False Installing, Reconciling"
)]
#[case::a_later_step_failed(
    INSTALLED,
    "Succeeded",
    "Failed",
    "Ready=False InstallPlanFailed, Stalled"
)]
#[case::upgrade(PENDING, "Succeeded", "Installing", "Ready=False Upgrading, Reconciling")]
#[case::upgrade_failed(PENDING, "Succeeded", "Failed", "Ready=False InstallPlanFailed, Stalled")]
#[case::held_by_a_sibling(PENDING, "Succeeded", "RequiresApproval", "Ready=False RequiresApproval")]
fn the_first_row_that_applies_counts(
    #[case] status: &str,
    #[case] csv: &str,
    #[case] phase: &str,
    #[case] expected: &str,
) {
    let status = serde_json::from_str(status).unwrap();
    assert_eq!(found(&subscription(false, json!({}), status), csv, phase), expected);
}

/// An upgrade that waits for the approval that the Subscription itself asks for, or that it holds back itself.
#[rstest]
#[case::manual(json!({}), "RequiresApproval", "Ready=True Succeeded")]
#[case::manual_and_broken(json!({}), "Failed", "Ready=False InstallPlanFailed, Stalled")]
#[case::approved(json!({}), "Installing", "Ready=False Upgrading, Reconciling")]
#[case::paused(json!({PAUSE: "true"}), "RequiresApproval", "Ready=True Succeeded")]
#[case::paused_once_it_has_begun(json!({PAUSE: "true"}), "Installing", "Ready=False Upgrading, Reconciling")]
#[case::paused_before_its_plan_is_known(json!({PAUSE: "true"}), "", "Ready=True Succeeded")]
#[case::not_paused(json!({PAUSE: "false"}), "Installing", "Ready=False Upgrading, Reconciling")]
#[case::pinned_to_the_next(json!({PIN: "true"}), "RequiresApproval", "Ready=False RequiresApproval")]
#[case::outside_of_the_range(json!({VERSION_RANGE: "<2"}), "RequiresApproval", "Ready=True Succeeded")]
#[case::outside_of_the_range_after_a_failure(json!({VERSION_RANGE: "<2"}), "Failed", "Ready=True Succeeded")]
#[case::pinned_to_what_failed(json!({PIN: "true"}), "Failed", "Ready=False InstallPlanFailed, Stalled")]
#[case::unreadable(json!({VERSION_RANGE: "=>1"}), "RequiresApproval", "Ready=False MalformedValue, Stalled")]
#[case::unreadable_pause(json!({PAUSE: "yes"}), "RequiresApproval", "Ready=False MalformedValue, Stalled")]
#[case::unreadable_approval(json!({"olm-rs.dev/approve": "A"}), "RequiresApproval", "Ready=True Succeeded")]
fn what_is_held_back_on_purpose_is_not_due(
    #[case] annotations: Value,
    #[case] phase: &str,
    #[case] expected: &str,
) {
    let status = serde_json::from_str(PENDING).unwrap();
    assert_eq!(found(&subscription(true, annotations, status), "Succeeded", phase), expected);
}

#[rstest]
#[case::refused(
    "ResolutionFailed",
    "ConstraintsNotSatisfiable",
    "Ready=False ConstraintsNotSatisfiable, Stalled"
)]
#[case::prevented("ResolutionFailed", "ErrorPreventedResolution", "Ready=True Succeeded")]
#[case::unpacking("BundleUnpacking", "UnpackingInProgress", "Ready=False Upgrading, Reconciling")]
#[case::not_unpacked(
    "BundleUnpackFailed",
    "BundleUnpackFailed",
    "Ready=False BundleUnpackFailed, Stalled"
)]
#[case::unusable(
    "BundleUnpackFailed",
    "ErrorPreventedUnpacking",
    "Ready=False ErrorPreventedUnpacking, Stalled"
)]
#[case::plan_not_written(
    "BundleUnpackFailed",
    "EnsureInstallPlanFailed",
    "Ready=False EnsureInstallPlanFailed, Reconciling"
)]
#[case::unhealthy_catalog(
    "CatalogSourcesUnhealthy",
    "UnhealthyCatalogSourceFound",
    "Ready=True Succeeded"
)]
#[case::blocked("UpgradeBlocked", "ConstraintsNotSatisfiable", "Ready=True Succeeded")]
#[case::plan_deleted("InstallPlanMissing", "ReferencedInstallPlanNotFound", "Ready=True Succeeded")]
fn conditions_of_an_installed_operator(
    #[case] kind: &str,
    #[case] reason: &str,
    #[case] expected: &str,
) {
    let mut status: Value = serde_json::from_str(INSTALLED).unwrap();
    status["conditions"] = json!([condition(kind, reason)]);
    status["catalogHealth"] = known_catalog();
    assert_eq!(found(&subscription(false, json!({}), status), "Succeeded", "Complete"), expected);
}

#[test]
fn what_is_tried_again_is_not_stalled() {
    let mut unpacking = condition("BundleUnpackFailed", "ErrorPreventedUnpacking");
    unpacking["message"] = json!("bundle unpacking failed with an error: no route to host");
    let status = json!({ "conditions": [unpacking] });
    let expected = "Ready=False ErrorPreventedUnpacking, Reconciling";
    assert_eq!(found(&subscription(false, json!({}), status), "", ""), expected);
    let failed = condition("BundleUnpackFailed", "BundleUnpackFailed");
    let again = condition("BundleUnpacking", "UnpackingInProgress");
    let status = json!({ "conditions": [failed, again] });
    let expected = "Ready=False BundleUnpackFailed, Reconciling";
    assert_eq!(found(&subscription(false, json!({}), status), "", ""), expected);
    let prevented = condition("ResolutionFailed", "ErrorPreventedResolution");
    let status = json!({ "conditions": [prevented], "catalogHealth": known_catalog() });
    let expected = "Ready=False ErrorPreventedResolution, Reconciling";
    assert_eq!(found(&subscription(false, json!({}), status), "", ""), expected);
}

/// A tool that applies a catalog together with the Subscription may apply the Subscription first.
#[rstest]
#[case::not_there(json!([]), "", "Ready=False UnhealthyCatalogSourceFound, Reconciling")]
#[case::gone(json!([]), "Succeeded", "Ready=True Succeeded")]
#[case::there(known_catalog(), "", "Ready=False ConstraintsNotSatisfiable, Stalled")]
fn a_catalog_that_is_not_there_may_come(
    #[case] catalogs: Value,
    #[case] csv: &str,
    #[case] expected: &str,
) {
    let mut status: Value =
        if csv.is_empty() { json!({}) } else { serde_json::from_str(INSTALLED).unwrap() };
    status["conditions"] = json!([condition("ResolutionFailed", "ConstraintsNotSatisfiable")]);
    status["catalogHealth"] = catalogs;
    assert_eq!(found(&subscription(false, json!({}), status), csv, ""), expected);
}

fn known_catalog() -> Value {
    json!([{"catalogSourceRef": {"name": "c", "namespace": "ns"}, "healthy": true, "lastUpdated": null}])
}

/// What was said of a resolution before the pause is out of date.
#[rstest]
#[case::installed("Succeeded", "Ready=True Succeeded")]
#[case::not_installed("", "Ready=False Paused")]
fn a_paused_one_is_judged_by_what_it_has(#[case] csv: &str, #[case] expected: &str) {
    let refused = condition("ResolutionFailed", "ConstraintsNotSatisfiable");
    let mut status: Value =
        if csv.is_empty() { json!({}) } else { serde_json::from_str(INSTALLED).unwrap() };
    status["conditions"] = json!([refused]);
    let paused = subscription(false, json!({PAUSE: "true"}), status);
    assert_eq!(found(&paused, csv, ""), expected);
}

#[test]
fn a_pin_that_is_not_reached_yet_is_due() {
    let status = serde_json::from_str(INSTALLED).unwrap();
    let pinned = subscription(true, json!({PIN: "true"}), status);
    assert_eq!(found(&pinned, "Succeeded", "Complete"), "Ready=False Upgrading, Reconciling");
    let status =
        json!({"installedCSV": "lamp.v2", "currentCSV": "lamp.v2", "state": "AtLatestKnown"});
    let there = subscription(true, json!({PIN: "true"}), status);
    assert_eq!(found(&there, "Succeeded", "Complete"), "Ready=True Succeeded");
}

/// What waits instead was not made for the pin.
#[test]
fn a_pin_that_holds_a_plan_is_due() {
    let mut pinned =
        subscription(true, json!({PIN: "true"}), serde_json::from_str(PENDING).unwrap());
    pinned.spec.starting_csv = Some("lamp.v9".to_owned());
    let expected = "Ready=False Upgrading, Reconciling";
    assert_eq!(found(&pinned, "Succeeded", "RequiresApproval"), expected);
}

fn ready() -> (Subscription, Option<CsvState>) {
    let status = serde_json::from_str(INSTALLED).unwrap();
    let mut one = subscription(false, json!({}), status);
    let operator = operator("Succeeded");
    let view = View { operator: operator.as_ref(), plan: None, is_observed: true };
    one.status = written(&one, &view);
    (one, operator)
}

#[test]
fn what_is_said_already_is_not_written_again() {
    let (one, operator) = ready();
    let view = View { operator: operator.as_ref(), plan: None, is_observed: true };
    assert_eq!(written(&one, &view), None);
    let mut other_words = one.clone();
    let status = other_words.status.as_mut().unwrap();
    status.conditions.iter_mut().for_each(|one| one.message = Some("other words".to_owned()));
    assert_eq!(written(&other_words, &view), None, "a text is no reason");
    // It is written along with something else.
    let mut wanted = other_words.status.clone().unwrap();
    wanted.current_csv = None;
    let effect = write(&other_words, wanted, &view, now()).unwrap();
    let Action::Status { object, .. } = effect.action else { panic!() };
    assert_ne!(object["status"]["conditions"][0]["message"], "other words");
}

/// v0's definition drops the generation; ours keeps it, and a new spec is seen in it.
#[rstest]
#[case::v0(None, true, None)]
#[case::ours(Some(3), true, None)]
#[case::ours_with_a_new_spec(Some(2), true, Some(3))]
#[case::ours_before_it_is_resolved(Some(2), false, None)]
fn a_generation_that_is_not_kept_is_not_written_for_ever(
    #[case] kept: Option<i64>,
    #[case] is_observed: bool,
    #[case] expected: Option<i64>,
) {
    let (mut one, operator) = ready();
    assert_eq!(one.status.as_ref().unwrap().observed_generation, Some(3), "written along");
    one.status.as_mut().unwrap().observed_generation = kept;
    let view = View { operator: operator.as_ref(), plan: None, is_observed };
    let found = written(&one, &view).map(|status| status.observed_generation);
    assert_eq!(found, expected.map(Some));
}

#[test]
fn times_change_with_the_status_alone() {
    let (one, operator) = ready();
    let later = now() + jiff::SignedDuration::from_secs(60);
    let mut wanted = one.status.clone().unwrap();
    wanted.current_csv = None;
    let view = View { operator: operator.as_ref(), plan: None, is_observed: true };
    let effect = write(&one, wanted, &view, later).unwrap();
    let Action::Status { object, .. } = effect.action else { panic!() };
    let since = |object: &Value| object["status"]["conditions"][0]["lastTransitionTime"].clone();
    assert_eq!(since(&object), json!("1970-01-01T00:00:00Z"));
    let view = View { operator: None, ..view };
    let effect = write(&one, one.status.clone().unwrap(), &view, later).unwrap();
    let Action::Status { object, .. } = effect.action else { panic!() };
    assert_eq!(since(&object), json!("1970-01-01T00:01:00Z"));
    let kinds = object["status"]["conditions"].as_array().unwrap().iter();
    let kinds: Vec<&str> = kinds.map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, [ALL[0], ALL[2]]);
}
