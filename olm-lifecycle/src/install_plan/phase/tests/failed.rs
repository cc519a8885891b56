//! Plans that have failed, and may be tried again.

use olm_types::annotations::PIN;
use olm_types::api::SubscriptionStatus;

use super::*;

#[rstest]
#[case::rights_of_its_account(true, true, Some(InstallPlanPhase::Installing))]
#[case::no_account(true, false, None)]
#[case::nothing_changed(false, true, None)]
fn a_failed_plan_is_tried_again_with_other_rights(
    #[case] changed: bool,
    #[case] account: bool,
    #[case] phase: Option<InstallPlanPhase>,
) {
    let mut observed = observed(InstallPlanPhase::Failed);
    observed.rights_changed = changed;
    with_status(&mut observed, |status| {
        status.start_time = Some(Time(now()));
        status.attenuated_service_account_ref = account.then(ObjectReference::default);
    });
    let written = write_of(decide(&observed, now() + 1.hour())).0;
    assert_eq!(written.as_ref().map(|status| status.phase), phase);
    assert!(written.is_none_or(|status| status.start_time == Some(Time(now()))));
}

/// Rights may come from a ClusterRoleBinding, of which no change in the namespace speaks.
#[rstest]
#[case::forbidden(true, Some("error updating configmap: c: configmaps is forbidden: User x"), true)]
#[case::another_error(true, Some("error updating configmap: c: no"), false)]
#[case::no_account(false, Some("configmaps is forbidden: exceeded quota"), false)]
#[case::no_message(true, None, false)]
fn a_failed_plan_that_lacks_rights_is_executed_again(
    #[case] account: bool,
    #[case] message: Option<&str>,
    #[case] executed: bool,
) {
    let mut observed = observed(InstallPlanPhase::Failed);
    let reference = ObjectReference { name: Some("sa".to_owned()), ..ObjectReference::default() };
    with_status(&mut observed, |status| {
        status.start_time = Some(Time(now()));
        status.message = message.map(str::to_owned);
        status.attenuated_service_account_ref = account.then_some(reference);
    });
    let decision = decide(&observed, now() + 1.hour());
    assert_eq!(matches!(decision, Decision::Execute(_)), executed);
    assert_eq!(matches!(decision, Decision::Nothing), !executed);
}

/// A copy goes when the operator of another namespace reaches this one no longer: then the plan goes on.
#[rstest]
#[case::of_a_copy(
    "namespace ns holds a copy of csv.v1, which is installed in namespace kitchen and reaches this one: no CSV of \
     that name can be created while the copy is there; install into another namespace",
    true
)]
#[case::another_error("error updating configmap: c: no", false)]
fn a_failed_plan_that_met_a_copy_is_executed_again(#[case] message: &str, #[case] executed: bool) {
    let mut observed = observed(InstallPlanPhase::Failed);
    observed.rights_changed = true;
    with_status(&mut observed, |status| {
        status.start_time = Some(Time(now()));
        status.message = Some(message.to_owned());
    });
    let decision = decide(&observed, now() + 1.hour());
    assert_eq!(matches!(decision, Decision::Execute(_)), executed);
    assert_eq!(matches!(decision, Decision::Nothing), !executed);
}

/// Its Subscription is pinned to what is installed, and may move on again.
#[test]
fn a_failed_plan_that_a_pin_lets_go_is_not_executed_again() {
    let mut observed = of_subscription_a();
    let plan = Arc::make_mut(&mut observed.plan);
    plan.spec.cluster_service_version_names = vec!["a.v2".to_owned()];
    with_status(&mut observed, |status| {
        status.phase = InstallPlanPhase::Failed;
        status.message = Some("configmaps is forbidden: User x".to_owned());
        status.attenuated_service_account_ref = Some(ObjectReference::default());
    });
    let mut pinned = Subscription::clone(&observed.around.subscriptions[0]);
    pinned.annotations_mut().insert(PIN.to_owned(), "true".to_owned());
    pinned.spec.starting_csv = Some("a.v1".to_owned());
    pinned.status = Some(SubscriptionStatus {
        installed_csv: Some("a.v1".to_owned()),
        current_csv: Some("a.v2".to_owned()),
        ..SubscriptionStatus::default()
    });
    let waits = |subscription: &Subscription| {
        let mut observed = observed.clone();
        observed.around.subscriptions = vec![Arc::new(subscription.clone())];
        matches!(decide(&observed, now()), Decision::Wait { effects, .. } if effects.is_empty())
    };
    assert!(waits(&pinned));
    pinned.spec.starting_csv = Some("a.v2".to_owned());
    assert!(!waits(&pinned));
}
