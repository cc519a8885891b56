//! What Subscriptions say about their plan: the rows of spec catalog-operator 9.5. Those on
//! reconcilers are in `subscription/sync/tests.rs`.

use k8s_openapi::api::core::v1::ObjectReference;
use olm_types::api::{BundleLookupCondition, InstallPlanCondition};
use rstest::rstest;

use super::*;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn condition(kind: &str, reason: &str, message: &str) -> SubscriptionCondition {
    conditions::holding(kind, reason, Some(message.to_owned()))
}

fn status(conditions: &[SubscriptionCondition]) -> SubscriptionStatus {
    SubscriptionStatus {
        install_plan_ref: Some(ObjectReference::default()),
        conditions: conditions.to_vec(),
        ..SubscriptionStatus::default()
    }
}

fn missing() -> SubscriptionCondition {
    condition(INSTALL_PLAN_MISSING, "ReferencedInstallPlanNotFound", "")
}

fn pending(reason: &str) -> SubscriptionCondition {
    condition(INSTALL_PLAN_PENDING, reason, "")
}

fn failed(reason: &str) -> SubscriptionCondition {
    condition(INSTALL_PLAN_FAILED, reason, "")
}

fn all_three() -> Vec<SubscriptionCondition> {
    vec![missing(), failed("InstallPlanFailed"), pending("Installing")]
}

fn plan(
    phase: InstallPlanPhase,
    installed: Option<(&str, &str)>,
    lookups: &[&str],
) -> ReferencedPlan {
    let installed = installed.map(|(reason, message)| InstallPlanCondition {
        type_: Some(INSTALLED.to_owned()),
        status: Some("False".to_owned()),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        ..InstallPlanCondition::default()
    });
    let lookup = |message: &&str| BundleLookup {
        conditions: vec![BundleLookupCondition {
            type_: "BundleLookupPending".to_owned(),
            message: Some((*message).to_owned()),
            ..BundleLookupCondition::default()
        }],
        ..BundleLookup::default()
    };
    let mut plan = InstallPlan::new("ip", Default::default());
    plan.status = Some(InstallPlanStatus {
        phase,
        conditions: installed.into_iter().collect(),
        bundle_lookups: lookups.iter().map(lookup).collect(),
        ..InstallPlanStatus::default()
    });
    ReferencedPlan::Found(Arc::new(plan))
}

/// The conditions without times, or nothing when nothing is written.
fn reported(
    before: &SubscriptionStatus,
    plan: &ReferencedPlan,
) -> Option<Vec<SubscriptionCondition>> {
    let after = reconcile(before, &Subscription::new("lamp", Default::default()), plan, now())?;
    assert_eq!(after.last_updated, Some(Time(now())));
    let untimed = |condition: SubscriptionCondition| SubscriptionCondition {
        last_transition_time: None,
        ..condition
    };
    Some(after.conditions.into_iter().map(untimed).collect())
}

#[test]
fn without_a_reference_nothing_is_said() {
    assert_eq!(reported(&status(&all_three()), &ReferencedPlan::None), None);
}

#[rstest]
#[case::no_conditions(vec![], Some(vec![missing()]))]
#[case::reported_already(vec![missing()], None)]
#[case::others_go(all_three(), Some(vec![missing()]))]
fn a_missing_plan(
    #[case] before: Vec<SubscriptionCondition>,
    #[case] after: Option<Vec<SubscriptionCondition>>,
) {
    assert_eq!(reported(&status(&before), &ReferencedPlan::Missing), after);
}

use InstallPlanPhase::{Complete, Failed, Installing, None as NoPhase, Planning, RequiresApproval};

#[rstest]
#[case::fresh(NoPhase, vec![], Some(vec![pending("InstallPlanNotYetReconciled")]))]
#[case::fresh_reported(NoPhase, vec![pending("InstallPlanNotYetReconciled")], None)]
#[case::fresh_clears(NoPhase, all_three(), Some(vec![pending("InstallPlanNotYetReconciled")]))]
#[case::planning(Planning, vec![], Some(vec![pending("Planning")]))]
#[case::approval(RequiresApproval, vec![], Some(vec![pending("RequiresApproval")]))]
#[case::approval_reported(RequiresApproval, vec![pending("RequiresApproval")], None)]
#[case::approval_reported_before_others(
    RequiresApproval,
    vec![pending("RequiresApproval"), condition("UpgradeHeld", "Paused", "")],
    None
)]
#[case::approval_clears(RequiresApproval, all_three(), Some(vec![pending("RequiresApproval")]))]
#[case::installing_reported(Installing, vec![pending("Installing")], None)]
#[case::failed(Failed, vec![], Some(vec![failed("InstallPlanFailed")]))]
#[case::failed_reported(Failed, vec![failed("InstallPlanFailed")], None)]
#[case::complete(Complete, all_three(), Some(vec![]))]
#[case::complete_already(Complete, vec![], None)]
fn phases(
    #[case] phase: InstallPlanPhase,
    #[case] before: Vec<SubscriptionCondition>,
    #[case] after: Option<Vec<SubscriptionCondition>>,
) {
    assert_eq!(reported(&status(&before), &plan(phase, None, &[])), after);
}

#[rstest]
#[case::installing_with_message(
    Installing, Some(("Installing", "no operatorgroup found that is managing this namespace")), &[],
    condition(INSTALL_PLAN_PENDING, "Installing", "no operatorgroup found that is managing this namespace")
)]
#[case::failed_with_reason(Failed, Some(("InstallComponentFailed", "")), &[], failed("InstallComponentFailed"))]
#[case::one_lookup(
    Failed, Some(("InstallComponentFailed", "")),
    &["unpack job not completed: Unpack pod(olm/c5a4) container(pull) is pending. Reason: ImagePullBackOff, Message: Back-off pulling image"],
    condition(INSTALL_PLAN_FAILED, "InstallComponentFailed",
        "unpack job not completed: Unpack pod(olm/c5a4) container(pull) is pending. Reason: ImagePullBackOff, Message: Back-off pulling image.")
)]
#[case::two_lookups(
    Failed, Some(("InstallComponentFailed", "")), &["encountered issue foo", "encountered issue bar"],
    condition(INSTALL_PLAN_FAILED, "InstallComponentFailed", "encountered issue foo. encountered issue bar.")
)]
fn reasons_and_messages_of_the_plan(
    #[case] phase: InstallPlanPhase,
    #[case] installed: Option<(&str, &str)>,
    #[case] lookups: &[&str],
    #[case] expected: SubscriptionCondition,
) {
    assert_eq!(reported(&status(&[]), &plan(phase, installed, lookups)), Some(vec![expected]));
}

#[test]
fn a_failure_with_its_reason_is_reported_once() {
    let plan = plan(Failed, Some(("InstallComponentFailed", "no")), &[]);
    let before = vec![condition(INSTALL_PLAN_FAILED, "InstallComponentFailed", "no")];
    assert_eq!(reported(&status(&before), &plan), None);
}

#[rstest]
#[case::with_a_pending_condition(vec![pending("RequiresApproval")])]
#[case::without_any_condition(vec![])]
fn an_unfinished_plan_that_was_deleted_is_forgotten(#[case] before: Vec<SubscriptionCondition>) {
    let before = SubscriptionStatus {
        state: SubscriptionState::UpgradePending,
        current_csv: Some("csv.v2".to_owned()),
        installed_csv: Some("csv.v1".to_owned()),
        ..status(&before)
    };
    let subscription = Subscription::new("lamp", Default::default());
    let after = reconcile(&before, &subscription, &ReferencedPlan::Missing, now()).unwrap();
    let expected = SubscriptionStatus {
        installed_csv: Some("csv.v1".to_owned()),
        last_updated: Some(Time(now())),
        ..SubscriptionStatus::default()
    };
    assert_eq!(after, expected);
}
