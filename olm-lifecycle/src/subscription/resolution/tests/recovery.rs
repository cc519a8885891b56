//! A process that ended between the writes of an installation.

use super::*;
use crate::tenancy::Attestor;

/// The plan of a fresh installation of `a.v1`, before the Subscription knows it.
fn made(namespace: &Namespace) -> InstallPlan {
    let selection = select(namespace, &[choice(entry("a", "alpha", "a.v1"), "")]);
    let request = plan(namespace, &selection, &fetch(&selection), &[]).unwrap().unwrap();
    InstallPlan { status: Some(request.status()), ..stored(request.object(&[]), "install-1") }
}

#[test]
fn a_plan_that_was_not_recorded_is_found_again() {
    let mut namespace =
        namespace(vec![subscription("a", "alpha", ""), subscription("b", "alpha", "")]);
    namespace.plans = vec![Arc::new(made(&namespace))];
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace, now()) else {
        panic!("would make a second plan")
    };
    let reported = written(&effects);
    assert_eq!(reported.keys().collect::<Vec<_>>(), ["a-alpha"]);
    let status = &reported["a-alpha"];
    assert_eq!(
        (status.current_csv.as_deref(), status.install_plan_generation),
        (Some("a.v1"), Some(1))
    );
    assert_eq!(status.installplan.as_ref().unwrap().name, "install-1");
}

#[test]
fn its_csv_may_exist_already() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "")]);
    namespace.plans = vec![Arc::new(made(&namespace))];
    namespace.csvs.insert("a.v1".to_owned(), CsvState::default());
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace, now()) else {
        panic!("would be blocked by the CSV")
    };
    let status = &written(&effects)["a-alpha"];
    assert_eq!(
        (status.state, status.installed_csv.as_deref()),
        (SubscriptionState::AtLatestKnown, Some("a.v1"))
    );
}

#[test]
fn a_recorded_plan_changes_nothing() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "")]);
    namespace.plans = vec![Arc::new(made(&namespace))];
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace, now()) else {
        panic!("is up to date")
    };
    let status = written(&effects).remove("a-alpha");
    Arc::make_mut(&mut namespace.subscriptions[0]).status = status;
    assert_eq!(decide_resolution(&namespace, now()), ResolutionDecision::AllPending);
}

#[test]
fn a_plan_without_status_is_finished_not_doubled() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "")]);
    let unfinished = InstallPlan { status: None, ..made(&namespace) };
    namespace.plans = vec![Arc::new(unfinished.clone())];
    assert_eq!(
        decide_resolution(&namespace, now()),
        ResolutionDecision::Resolve(ResolutionSettings::default())
    );
    let selection = select(&namespace, &[choice(entry("a", "alpha", "a.v1"), "")]);
    let request = plan(&namespace, &selection, &fetch(&selection), &[]).unwrap().unwrap();
    assert_eq!(request.generation, 1);
    assert!(request.existing(&namespace.plans).is_some());
    let effects =
        record(&namespace, &selection, &request, &unfinished, &Attestor::default(), now());
    assert_eq!(effects[0].target.name, "install-1");
    assert_eq!(written(&effects)["a-alpha"].install_plan_generation, Some(1));
}

#[test]
fn a_plan_of_another_owner_is_not_taken() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "")]);
    let mut foreign = made(&namespace);
    foreign.metadata.owner_references = None;
    namespace.plans = vec![Arc::new(foreign)];
    assert_eq!(
        decide_resolution(&namespace, now()),
        ResolutionDecision::Resolve(ResolutionSettings::default())
    );
}
