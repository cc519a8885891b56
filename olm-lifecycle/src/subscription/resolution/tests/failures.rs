//! After a resolution that found nothing.

use rstest::rstest;

use super::*;

fn failed(failure: &Failure) -> (SubscriptionStatus, Vec<String>) {
    let effects = fail(
        &namespace(vec![subscription("a", "alpha", "")]),
        failure,
        &KeptBack::default(),
        now(),
    );
    (written(&effects).remove("a-alpha").unwrap(), events(&effects))
}

#[rstest]
#[case(
    Failure::NotSatisfiable("constraints not satisfiable: something".to_owned()),
    "ResolutionFailed", "ConstraintsNotSatisfiable", "constraints not satisfiable: something", false
)]
#[case(Failure::Prevented("some error".to_owned()), "ResolutionFailed", "ErrorPreventedResolution", "some error", true)]
#[case(Failure::Bundle("bad bundle".to_owned()), "BundleUnpackFailed", "ErrorPreventedUnpacking", "bad bundle", false)]
#[case(
    Failure::Unpack("no bundle".to_owned()),
    "BundleUnpackFailed", "ErrorPreventedUnpacking", "bundle unpacking failed with an error: no bundle", true
)]
#[case(
    Failure::Plan("fake install plan create error".to_owned()),
    "BundleUnpackFailed", "EnsureInstallPlanFailed", "error ensuring InstallPlan: fake install plan create error", true
)]
fn failures_are_reported(
    #[case] failure: Failure,
    #[case] kind: &str,
    #[case] reason: &str,
    #[case] message: &str,
    #[case] retried: bool,
) {
    let (status, events) = failed(&failure);
    let condition = &status.conditions[1];
    assert_eq!((condition.type_.as_str(), condition.status.as_str()), (kind, "True"));
    assert_eq!(
        (condition.reason.as_deref(), condition.message.as_deref()),
        (Some(reason), Some(message))
    );
    assert_eq!(condition.last_transition_time, None);
    assert_eq!(status.last_updated, Some(Time(now())));
    assert_eq!(failure.is_retried(), retried);
    assert_eq!(events.len(), usize::from(kind == "ResolutionFailed"));
}

#[test]
fn a_failure_is_reported_once_and_on_all() {
    let failure = Failure::Prevented("some error".to_owned());
    let mut namespace =
        namespace(vec![subscription("a", "alpha", ""), subscription("b", "alpha", "")]);
    let effects = fail(&namespace, &failure, &KeptBack::default(), now());
    let reported = written(&effects);
    assert_eq!(reported.len(), 2);
    for subscription in &mut namespace.subscriptions {
        let status = reported[subscription.metadata.name.as_ref().unwrap()].clone();
        Arc::make_mut(subscription).status = Some(status);
    }
    assert_eq!(fail(&namespace, &failure, &KeptBack::default(), now()), []);
}

#[test]
fn a_failure_that_is_over_is_taken_back() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "a.v1")]);
    let reported = written(&fail(
        &namespace,
        &Failure::Prevented("x".to_owned()),
        &KeptBack::default(),
        now(),
    ))
    .remove("a-alpha");
    Arc::make_mut(&mut namespace.subscriptions[0]).status = reported;
    let status = written(&clear_failures(&namespace, &Selection::default(), now()))
        .remove("a-alpha")
        .unwrap();
    assert_eq!((others(&status), status.installed_csv.as_deref()), (vec![healthy()], Some("a.v1")));
}
