//! Namespaces in which a plan is being executed while its Subscription has a newer version.

use std::time::Duration;

use rstest::rstest;

use super::parts::{approve, chosen, home, manual, reconcile};
use super::*;

const LIMIT: Duration = Duration::from_secs(60);

/// Plan 1 brings `a.v1` and its dependency `x.v1`, and is executed: `a.v1` is there.
fn begun() -> Namespace {
    let mut home = home(&[manual("a", "")]);
    reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 0 for a"], &[]);
    approve(&mut home, 1);
    Arc::make_mut(&mut home.plans[0]).metadata.creation_timestamp = Some(Time(now()));
    there(&mut home, "a.v1");
    let status = Arc::make_mut(&mut home.subscriptions[0]).status.as_mut().unwrap();
    status.installed_csv = Some("a.v1".to_owned());
    status.state = SubscriptionState::AtLatestKnown;
    home
}

fn there(home: &mut Namespace, csv: &str) {
    home.csvs.insert(csv.to_owned(), CsvState::default());
}

fn phase(home: &mut Namespace, phase: InstallPlanPhase) {
    Arc::make_mut(&mut home.plans[0]).status.as_mut().unwrap().phase = phase;
}

/// As when a CSV of the plan was deleted since.
fn stopped(home: &mut Namespace) {
    let reason = Some(olm_types::reasons::install_plan::INSTALL_CHECK_FAILED.to_owned());
    let condition = InstallPlanCondition { reason, ..InstallPlanCondition::default() };
    Arc::make_mut(&mut home.plans[0]).status.as_mut().unwrap().conditions.push(condition);
}

/// What the next version waits for, when it is found so many seconds after the plan was made.
fn waits(home: &Namespace, choices: &[&str], seconds: i64) -> Option<Unfinished> {
    let choices: Vec<Choice> = choices.iter().map(|text| chosen(text)).collect();
    let parts = parts(home, home, &choices);
    let now = now() + jiff::SignedDuration::from_secs(seconds);
    unfinished(home, &parts[0].selection, LIMIT, now)
}

#[rstest]
#[case::a_dependency_is_to_come(|_: &mut Namespace| {}, 20, Some(40))]
#[case::it_does_not_come(|_: &mut Namespace| {}, 60, None)]
#[case::it_is_there(|home: &mut Namespace| there(home, "x.v1"), 20, None)]
#[case::the_plan_failed(|home: &mut Namespace| phase(home, InstallPlanPhase::Failed), 20, None)]
#[case::the_plan_is_not_continued(stopped, 20, None)]
#[case::the_plan_is_done(|home: &mut Namespace| phase(home, InstallPlanPhase::Complete), 20, None)]
#[case::the_plan_is_gone(|home: &mut Namespace| home.plans.clear(), 20, None)]
fn the_next_version_is_planned_when_all_of_the_plan_is_there(
    #[case] change: fn(&mut Namespace),
    #[case] seconds: i64,
    #[case] rest: Option<u64>,
) {
    let mut home = begun();
    change(&mut home);
    let found = waits(&home, &["a.v2 of 0 for a", "x.v1 of 0 for a"], seconds);
    assert_eq!(found.as_ref().map(|found| found.rest.as_secs()), rest);
    let expected = rest.map(|_| vec!["x.v1".to_owned()]);
    assert_eq!(found.map(|found| found.to_come), expected);
}

/// What has nothing to do with the plan does not wait for it.
#[test]
fn another_subscription_does_not_wait() {
    let mut home = begun();
    let other = parts::home(&[manual("b", "b.v1")]);
    home.subscriptions.extend(other.subscriptions);
    there(&mut home, "b.v1");
    assert_eq!(waits(&home, &["b.v2 of 0 for b"], 20), None);
}
