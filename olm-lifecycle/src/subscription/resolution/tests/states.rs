//! Before a resolution.

use olm_types::annotations::{PAUSE, PIN};
use rstest::rstest;

use super::*;

fn pending(name: &str) -> Subscription {
    with_status(subscription("a", "alpha", ""), |status| {
        status.state = SubscriptionState::UpgradePending;
        status.current_csv = Some(name.to_owned());
        status.install_plan_ref = Some(Default::default());
    })
}

#[test]
fn nothing_is_resolved_without_subscriptions() {
    assert_eq!(decide_resolution(&namespace(vec![]), now()), ResolutionDecision::NothingSubscribed);
}

#[test]
fn a_new_subscription_is_resolved() {
    let namespace = namespace(vec![subscription("a", "alpha", "")]);
    assert_eq!(
        decide_resolution(&namespace, now()),
        ResolutionDecision::Resolve(ResolutionSettings::default())
    );
}

#[test]
fn a_subscription_is_looked_at_by_itself_first() {
    let mut fresh = subscription("a", "alpha", "");
    fresh.status = None;
    let namespace = namespace(vec![subscription("b", "alpha", ""), fresh]);
    assert_eq!(decide_resolution(&namespace, now()), ResolutionDecision::NotSynced);
}

#[rstest]
#[case("CatalogSourcesAdded", ResolutionDecision::NotSynced)]
#[case("AllCatalogSourcesHealthy", ResolutionDecision::Resolve(ResolutionSettings::default()))]
#[case("UnhealthyCatalogSourceFound", ResolutionDecision::Resolve(ResolutionSettings::default()))]
fn changed_catalogs_are_reported_first(#[case] reason: &str, #[case] expected: ResolutionDecision) {
    let reported = with_status(subscription("a", "alpha", ""), |status| {
        status.conditions[0].reason = Some(reason.to_owned());
    });
    assert_eq!(decide_resolution(&namespace(vec![reported]), now()), expected);
}

#[rstest]
#[case(0, "found 0 operatorGroups, expected 1", "create an OperatorGroup in namespace ns")]
#[case(
    2,
    "found 2 operatorGroups, expected 1",
    "delete all OperatorGroups but one in namespace ns"
)]
fn exactly_one_group_is_needed(#[case] count: usize, #[case] text: &str, #[case] hint: &str) {
    let mut namespace = namespace(vec![subscription("a", "alpha", "")]);
    namespace.groups = vec![Arc::clone(&namespace.groups[0]); count];
    let ResolutionDecision::WrongGroups { message, event } = decide_resolution(&namespace, now())
    else {
        panic!("goes on")
    };
    assert_eq!(message, text);
    let expected = format!(
        "Namespace ns ResolutionFailed: {text}: nothing is installed for the Subscriptions here; {hint}"
    );
    assert_eq!(events(&[*event]), [expected]);
}

#[test]
fn the_group_sets_the_terms() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "")]);
    let group = Arc::make_mut(&mut namespace.groups[0]);
    group.spec.upgrade_strategy = Some(UpgradeStrategy::TechPreviewUnsafeFailForward);
    group.metadata.annotations = Some(
        [(
            "olm.operatorframework.io/exclude-global-namespace-resolution".to_owned(),
            "true".to_owned(),
        )]
        .into(),
    );
    assert_eq!(
        decide_resolution(&namespace, now()),
        ResolutionDecision::Resolve(ResolutionSettings { fail_forward: true })
    );
    assert_eq!(namespace.visible("olm"), ["ns"]);
}

#[rstest]
#[case::without_a_group("ns", None, &["ns", "olm"])]
#[case::included("ns", Some("false"), &["ns", "olm"])]
#[case::excluded("ns", Some("true"), &["ns"])]
#[case::global_itself("olm", None, &["olm"])]
fn the_catalogs_of_its_own_and_the_global_namespace_are_seen(
    #[case] name: &str,
    #[case] excluded: Option<&str>,
    #[case] expected: &[&str],
) {
    let mut namespace = Namespace { name: name.to_owned(), ..namespace(Vec::new()) };
    let annotation = excluded.map(|value| {
        [(
            "olm.operatorframework.io/exclude-global-namespace-resolution".to_owned(),
            value.to_owned(),
        )]
        .into()
    });
    match annotation {
        Some(annotation) => {
            Arc::make_mut(&mut namespace.groups[0]).metadata.annotations = Some(annotation);
        }
        None => namespace.groups.clear(),
    }
    assert_eq!(namespace.visible("olm"), expected);
}

#[test]
fn a_namespace_that_only_waits_is_left_alone() {
    assert_eq!(
        decide_resolution(&namespace(vec![pending("a.v1")]), now()),
        ResolutionDecision::AllPending
    );
}

#[test]
fn a_csv_that_appeared_is_noted() {
    let mut namespace = namespace(vec![pending("a.v1")]);
    namespace.csvs.insert("a.v1".to_owned(), CsvState::default());
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace, now()) else {
        panic!("is up to date")
    };
    let status = &written(&effects)["a-alpha"];
    assert_eq!(
        (status.state, status.installed_csv.as_deref()),
        (SubscriptionState::AtLatestKnown, Some("a.v1"))
    );
    assert_eq!(status.last_updated, Some(Time(now())));
}

/// It was tried again, as its account got the rights that it had lacked.
#[rstest]
#[case::failed(InstallPlanPhase::Failed, true)]
#[case::tried_again(InstallPlanPhase::Installing, false)]
#[case::done(InstallPlanPhase::Complete, false)]
fn a_plan_that_goes_on_has_not_failed(#[case] phase: InstallPlanPhase, #[case] is_said: bool) {
    let failed = with_status(pending("a.v1"), |status| {
        status.install_plan_ref.get_or_insert_default().name = Some("p".to_owned());
        let (type_, status_text) = ("InstallPlanFailed".to_owned(), "True".to_owned());
        status.conditions.push(SubscriptionCondition { type_, status: status_text, ..healthy() });
    });
    let mut namespace = namespace(vec![failed]);
    let mut plan = stored(InstallPlan::default(), "p");
    plan.status = Some(InstallPlanStatus { phase, ..InstallPlanStatus::default() });
    namespace.plans.push(Arc::new(plan));
    let csv = CsvState { phase: CsvPhase::Installing, ..CsvState::default() };
    namespace.csvs.insert("a.v1".to_owned(), csv);
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace, now()) else {
        panic!("is up to date")
    };
    let found = others(&written(&effects)["a-alpha"]);
    assert_eq!(found.iter().any(|one| one.type_ == "InstallPlanFailed"), is_said, "{found:?}");
}

#[test]
fn a_csv_that_disappeared_is_noted() {
    let latest = with_status(subscription("a", "alpha", "a.v1"), |status| {
        status.state = SubscriptionState::AtLatestKnown
    });
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace(vec![latest]), now())
    else {
        panic!("is up to date")
    };
    let status = &written(&effects)["a-alpha"];
    assert_eq!(
        (status.state, status.installed_csv.as_deref()),
        (SubscriptionState::UpgradePending, Some("a.v1"))
    );
}

#[rstest]
#[case(true, SubscriptionState::UpgradeFailed)]
#[case(false, SubscriptionState::UpgradePending)]
fn a_failed_plan_counts_only_when_failing_forward(
    #[case] fail_forward: bool,
    #[case] state: SubscriptionState,
) {
    let waiting = with_status(subscription("a", "alpha", ""), |status| {
        status.current_csv = Some("a.v1".to_owned());
        let reference = k8s_openapi::api::core::v1::ObjectReference {
            name: Some("ip".to_owned()),
            ..Default::default()
        };
        status.install_plan_ref = Some(reference);
    });
    let mut namespace = namespace(vec![waiting]);
    let status =
        InstallPlanStatus { phase: InstallPlanPhase::Failed, ..InstallPlanStatus::default() };
    let plan = InstallPlan { status: Some(status), ..InstallPlan::default() };
    namespace.plans = vec![Arc::new(stored(plan, "ip"))];
    let strategy = fail_forward.then_some(UpgradeStrategy::TechPreviewUnsafeFailForward);
    Arc::make_mut(&mut namespace.groups[0]).spec.upgrade_strategy = strategy;
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace, now()) else {
        panic!("is up to date")
    };
    assert_eq!(written(&effects)["a-alpha"].state, state);
}

/// v0 works this out at every look and never stores it, which holds the namespace up until the CSV
/// exists.
#[test]
fn a_generated_subscription_is_linked_once() {
    let mut generated = subscription("b", "beta", "");
    generated.metadata.annotations =
        Some([("olm.generated-by".to_owned(), "ip".to_owned())].into());
    generated.spec.starting_csv = Some("b.v1".to_owned());
    let mut namespace = namespace(vec![generated, subscription("c", "alpha", "")]);
    namespace.plans = vec![Arc::new(stored(InstallPlan::default(), "ip"))];
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&namespace, now()) else {
        panic!("is up to date")
    };
    let status = written(&effects).remove("b-beta").unwrap();
    assert_eq!(status.current_csv.as_deref(), Some("b.v1"));
    assert_eq!(status.installplan.as_ref().unwrap().name, "ip");
    assert_eq!(status.state, SubscriptionState::UpgradePending);
    Arc::make_mut(&mut namespace.subscriptions[0]).status = Some(status);
    assert_eq!(
        decide_resolution(&namespace, now()),
        ResolutionDecision::Resolve(ResolutionSettings::default())
    );
}

/// `a.v1` is installed, `a.v2` is what a plan in this phase brings.
fn upgraded(phase: InstallPlanPhase, annotations: &[(&str, &str)]) -> Namespace {
    let mut subscription = with_status(subscription("a", "alpha", "a.v1"), |status| {
        status.state = SubscriptionState::AtLatestKnown;
        status.current_csv = Some("a.v2".to_owned());
        let name = Some("ip".to_owned());
        status.install_plan_ref =
            Some(k8s_openapi::api::core::v1::ObjectReference { name, ..Default::default() });
    });
    let annotations = annotations.iter().map(|(key, value)| ((*key).into(), (*value).into()));
    subscription.metadata.annotations = Some(annotations.collect());
    subscription.spec.starting_csv = Some("a.v1".to_owned());
    let mut namespace = namespace(vec![subscription]);
    let status = InstallPlanStatus { phase, ..InstallPlanStatus::default() };
    let plan = InstallPlan { status: Some(status), ..InstallPlan::default() };
    namespace.plans = vec![Arc::new(stored(plan, "ip"))];
    namespace.csvs.insert("a.v1".to_owned(), CsvState::default());
    namespace
}

/// The states that are written before a resolution.
fn noted(namespace: &Namespace) -> Vec<SubscriptionState> {
    match decide_resolution(namespace, now()) {
        ResolutionDecision::OutOfDate(effects) => {
            written(&effects).into_values().map(|status| status.state).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn an_upgrade_that_a_pin_holds_is_pending_once_the_pin_goes() {
    let waits = InstallPlanPhase::RequiresApproval;
    assert_eq!(noted(&upgraded(waits, &[(PIN, "true")])), []);
    let pinned = decide_resolution(&upgraded(waits, &[(PIN, "true")]), now());
    assert_eq!(pinned, ResolutionDecision::Resolve(ResolutionSettings::default()));
    let pending = [SubscriptionState::UpgradePending];
    assert_eq!(noted(&upgraded(waits, &[(PIN, "false")])), pending);
    assert_eq!(noted(&upgraded(InstallPlanPhase::Installing, &[(PIN, "true")])), pending);
}

/// A resolution writes before the Subscription by itself was looked at: it does not say that a plan has failed whose
/// upgrade is not asked for any more.
#[rstest]
#[case::pinned_back("a.v1", SubscriptionState::AtLatestKnown, false)]
#[case::still_asked_for("a.v2", SubscriptionState::UpgradeFailed, true)]
fn a_plan_that_a_pin_lets_go_has_not_failed(
    #[case] pin: &str,
    #[case] state: SubscriptionState,
    #[case] is_said: bool,
) {
    let mut namespace = upgraded(InstallPlanPhase::Failed, &[(PIN, "true")]);
    let plan = Arc::make_mut(&mut namespace.plans[0]);
    plan.spec.cluster_service_version_names = vec!["a.v2".to_owned()];
    let one = Arc::make_mut(&mut namespace.subscriptions[0]);
    one.spec.starting_csv = Some(pin.to_owned());
    let status = one.status.as_mut().unwrap();
    status.state = SubscriptionState::UpgradeFailed;
    let (type_, status_text) = ("InstallPlanFailed".to_owned(), "True".to_owned());
    status.conditions.push(SubscriptionCondition { type_, status: status_text, ..healthy() });
    let effects = clear_failures(&namespace, &Selection::default(), now());
    let status = &written(&effects)["a-alpha"];
    assert_eq!(status.state, state);
    let found = others(status);
    assert_eq!(found.iter().any(|one| one.type_ == "InstallPlanFailed"), is_said, "{found:?}");
}

/// It is among those for which nothing is resolved; what a plan brought that had begun is noted all the same.
#[test]
fn a_paused_subscription_follows_a_plan_that_has_begun() {
    let mut paused = upgraded(InstallPlanPhase::Installing, &[(PAUSE, "true")]);
    paused.held = std::mem::take(&mut paused.subscriptions);
    assert_eq!(decide_resolution(&paused, now()), ResolutionDecision::NothingSubscribed);
    paused.csvs.insert("a.v2".to_owned(), CsvState::default());
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&paused, now()) else {
        panic!("is up to date")
    };
    let status = &written(&effects)["a-alpha"];
    assert_eq!(status.installed_csv.as_deref(), Some("a.v2"));
    Arc::make_mut(&mut paused.held[0]).status = Some(status.clone());
    paused.csvs.clear();
    assert_eq!(noted(&paused), [], "that it is gone is nothing that is applied");
    paused.groups.clear();
    assert_eq!(decide_resolution(&paused, now()), ResolutionDecision::NothingSubscribed);
}
