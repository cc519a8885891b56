//! Plans that wait while a Subscription is pinned, and what a pin or a first install approves.

use olm_types::annotations::{FIRST_INSTALL, PAUSE, PIN};
use rstest::rstest;

use super::parts::{
    DEPENDENCY, Sub, approve, auto, chosen, followed, home, manual, reconcile, sub,
};
use super::*;
use crate::install_plan::approval::versions;

/// Pins the Subscription of that name, from now on.
fn pin(home: &mut Namespace, name: &str, csv: &str) {
    let mut all = home.subscriptions.iter_mut();
    let one = Arc::make_mut(all.find(|one| one.name_any() == name).unwrap());
    one.annotations_mut().insert(PIN.to_owned(), "true".to_owned());
    one.spec.starting_csv = Some(csv.to_owned());
}

/// The annotation by which the Subscription of that name holds the plan that it follows.
fn held(home: &Namespace, name: &str) -> Option<&'static str> {
    let one = home.subscriptions.iter().find(|one| one.name_any() == name).unwrap();
    let plan = home.plan_of(one).unwrap();
    versions::hold(one, one.status.as_ref(), plan).map(|hold| hold.key)
}

/// What waits is a step on the way to the pin that came since: it is planned for the pin, which approves it. So it is
/// when a user has approved what waits.
#[rstest]
#[case::not_approved(false)]
#[case::approved(true)]
fn a_plan_that_was_made_without_the_pin_is_made_for_it(#[case] is_approved: bool) {
    let mut home = home(&[manual("a", "a.v1")]);
    assert_eq!(reconcile(&mut home, &["a.v2 of 0 for a"], &[]), ["a.v2 #1 Manual of a"]);
    pin(&mut home, "a", "a.v3");
    assert_eq!(held(&home, "a"), Some(PIN));
    if is_approved {
        Arc::make_mut(&mut home.plans[0]).spec.approved = true;
        // As the Subscription by itself says of a plan that is held.
        let one = Arc::make_mut(&mut home.subscriptions[0]);
        one.status.as_mut().unwrap().state = SubscriptionState::AtLatestKnown;
    }
    assert_eq!(reconcile(&mut home, &["a.v2 of 0 for a"], &[]), ["a.v2 #2 Automatic of a"]);
    assert_eq!(followed(&home), [("a".to_owned(), Some(2))]);
    assert_eq!(reconcile(&mut home, &["a.v2 of 0 for a"], &[]), [""; 0]);
}

/// The first plan was approved while it was held, or has failed: a pin to another version leads to that one.
#[rstest]
#[case::approved(InstallPlanPhase::RequiresApproval)]
#[case::failed(InstallPlanPhase::Failed)]
fn a_first_plan_that_will_never_be_done_gives_way(#[case] phase: InstallPlanPhase) {
    let mut home = home(&[manual("a", "")]);
    assert_eq!(reconcile(&mut home, &["a.v2 of 0 for a"], &[]), ["a.v2 #1 Manual of a"]);
    let plan = Arc::make_mut(&mut home.plans[0]);
    plan.spec.approved = true;
    plan.status.as_mut().unwrap().phase = phase;
    pin(&mut home, "a", "a.v2");
    assert_eq!(
        reconcile(&mut home, &["a.v2 of 0 for a"], &[]),
        [""; 0],
        "it brings the pinned one"
    );
    pin(&mut home, "a", "a.v1");
    assert_eq!(reconcile(&mut home, &["a.v1 of 0 for a"], &[]), ["a.v1 #2 Automatic of a"]);
    assert_eq!(followed(&home), [("a".to_owned(), Some(2))]);
}

/// A plan for several has failed, and one of them takes its change back: the others get a plan of their own, once.
#[test]
fn who_shares_a_failed_plan_with_one_that_lets_it_go_gets_another() {
    let mut home = home(&[auto("a", "a.v1"), auto("b", "b.v1"), DEPENDENCY]);
    let all = ["a.v2 of 0 for a", "b.v2 of 0 for b", "x.v2 of 0 for a,b,x"];
    assert_eq!(reconcile(&mut home, &all, &[]), ["a.v2 b.v2 x.v2 #1 Automatic of a,b,x"]);
    fail_first(&mut home);
    assert_eq!(reconcile(&mut home, &all, &[]), [""; 0], "each still asks for it");
    pin(&mut home, "a", "a.v1");
    let rest = ["b.v2 of 0 for b", "x.v2 of 0 for a,b,x"];
    let whole = Part::whole(&home, &rest.map(chosen));
    let moved: Vec<&String> = whole.selection.updates.keys().collect();
    assert_eq!(moved, ["b", "x"], "where one plan is for all");
    assert_eq!(reconcile(&mut home, &rest, &[]), ["b.v2 x.v2 #2 Automatic of a,b,x"]);
    let expected = [("a", Some(1)), ("b", Some(2)), ("x", Some(2))];
    assert_eq!(followed(&home), expected.map(|(name, number)| (name.to_owned(), number)));
    assert_eq!(reconcile(&mut home, &rest, &[]), [""; 0]);
}

/// One of them gets another version by a plan of its own: once it follows that, the others get theirs.
#[test]
fn who_shares_a_failed_plan_with_one_that_moves_elsewhere_gets_another() {
    let mut home = home(&[auto("a", "a.v1"), auto("b", "b.v1"), DEPENDENCY]);
    let all = ["a.v2 of 0 for a", "b.v2 of 0 for b", "x.v2 of 0 for a,b,x"];
    reconcile(&mut home, &all, &[]);
    fail_first(&mut home);
    pin(&mut home, "a", "a.v3");
    let elsewhere = ["b.v2 of 0 for b", "x.v2 of 0 for b,x", "a.v3 of 1 for a"];
    assert_eq!(reconcile(&mut home, &elsewhere, &[]), ["a.v3 #2 Automatic of a"]);
    let waiting = |home: &Namespace| {
        let all = home.subscriptions.iter();
        let all = all.filter(|one| waits_for_its_plan(home, one));
        all.map(|one| one.name_any()).collect::<Vec<_>>()
    };
    assert_eq!(waiting(&home), ["a"]);
    assert_eq!(reconcile(&mut home, &elsewhere, &[]), ["b.v2 x.v2 #3 Automatic of b,x"]);
    assert_eq!(waiting(&home), ["a", "b", "x"]);
}

/// The process ended when that plan was made, and its Subscriptions did not know it.
#[test]
fn a_plan_without_what_was_let_go_is_found_again() {
    let mut home = home(&[auto("a", "a.v1"), auto("b", "b.v1"), DEPENDENCY]);
    reconcile(&mut home, &["a.v2 of 0 for a", "b.v2 of 0 for b", "x.v2 of 0 for a,b,x"], &[]);
    fail_first(&mut home);
    pin(&mut home, "a", "a.v1");
    let before = home.subscriptions.clone();
    reconcile(&mut home, &["b.v2 of 0 for b", "x.v2 of 0 for a,b,x"], &[]);
    home.subscriptions = before;
    let ResolutionDecision::OutOfDate(effects) = decide_resolution(&home, now()) else {
        panic!("is up to date")
    };
    let found = written(&effects).into_iter();
    let found: Vec<_> =
        found.map(|(name, status)| (name, status.install_plan_generation)).collect();
    assert_eq!(found, [("b".to_owned(), Some(2)), ("x".to_owned(), Some(2))]);
}

fn fail_first(home: &mut Namespace) {
    let plan = Arc::make_mut(&mut home.plans[0]);
    plan.status.as_mut().unwrap().phase = InstallPlanPhase::Failed;
}

/// The process ended, or a write was refused, when the plan was made and the Subscription did not know it.
#[test]
fn a_plan_for_a_pin_is_found_again() {
    let mut home = home(&[manual("a", "a.v1")]);
    reconcile(&mut home, &["a.v2 of 0 for a"], &[]);
    pin(&mut home, "a", "a.v3");
    let before = home.subscriptions[0].clone();
    reconcile(&mut home, &["a.v2 of 0 for a"], &[]);
    home.subscriptions[0] = before;
    assert_eq!(reconcile(&mut home, &["a.v2 of 0 for a"], &[]), ["a.v2 #2 Automatic of a"]);
    assert_eq!((home.plans.len(), followed(&home)), (2, vec![("a".to_owned(), Some(2))]));
}

/// A version that is unknown, or to which nothing leads: what waits stays where it is, and is held.
#[test]
fn a_pin_that_is_refused_leaves_the_plan_and_holds_it() {
    let mut home = home(&[manual("a", "a.v1")]);
    reconcile(&mut home, &["a.v2 of 0 for a"], &[]);
    pin(&mut home, "a", "a.v9");
    assert_eq!(reconcile(&mut home, &[], &["a"]), [""; 0]);
    assert_eq!((home.plans.len(), held(&home, "a")), (1, Some(PIN)));
}

/// A step that waits for a sibling is recorded as one on the way, and is made anew when the pin moves.
#[test]
fn a_step_that_waits_for_a_sibling_is_known_to_lead_to_the_pin() {
    let mut home = home(&[manual("a", "a.v1"), manual("b", "b.v1"), DEPENDENCY]);
    pin(&mut home, "a", "a.v3");
    let choices = ["a.v2 of 0 for a", "x.v2 of 0 for a,b,x"];
    assert_eq!(reconcile(&mut home, &choices, &[]), ["a.v2 x.v2 #1 Manual of a,b,x"]);
    assert_eq!(held(&home, "a"), None);
    assert_eq!(reconcile(&mut home, &choices, &[]), [""; 0], "nothing changed");
    pin(&mut home, "a", "a.v4");
    assert_eq!(held(&home, "a"), Some(PIN));
    assert_eq!(reconcile(&mut home, &choices, &[]), ["a.v2 x.v2 #2 Manual of a,b,x"]);
    assert_eq!(held(&home, "a"), None);
    let expected = [("a", Some(2)), ("b", None), ("x", Some(2))];
    assert_eq!(followed(&home), expected.map(|(name, number)| (name.to_owned(), number)));
    approve(&mut home, 2);
    assert_eq!(reconcile(&mut home, &choices, &[]), [""; 0]);
}

/// Where one plan is for all, what a sibling waits for is not approved by the pin of another one.
#[rstest]
#[case::it_waits("b.v2", Approval::Manual)]
#[case::it_is_installed("b.v1", Approval::Automatic)]
fn a_pin_approves_nothing_that_a_sibling_waits_for(
    #[case] current: &str,
    #[case] expected: Approval,
) {
    const PINNED: Sub = Sub { words: &[(PIN, "true"), ("start", "a.v2")], ..manual("a", "a.v1") };
    let mut home = home(&[PINNED, manual("b", "b.v1")]);
    let sibling = Arc::make_mut(&mut home.subscriptions[1]);
    sibling.status.as_mut().unwrap().current_csv = Some(current.to_owned());
    let choices = [chosen("a.v2 of 0 for a"), chosen(&format!("{current} of 1 for b"))];
    let part = Part::whole(&home, &choices);
    assert_eq!(approval(&home, &part.selection), expected);
}

/// Where one plan is for all, a Manual Subscription holds the upgrade of what its operator needs; a pin changes nothing
/// about that.
#[rstest]
#[case::not_pinned(manual("a", "a.v1"))]
#[case::pinned(Sub { words: &[(PIN, "true"), ("start", "a.v1")], ..manual("a", "a.v1") })]
fn a_pin_approves_no_upgrade_of_a_dependency_where_one_plan_is_for_all(#[case] who: Sub) {
    let home = home(&[who, DEPENDENCY]);
    let part = Part::whole(&home, &[chosen("x.v2 of 0 for a,x")]);
    assert_eq!(approval(&home, &part.selection), Approval::Manual);
}

/// While what needs no approval is being installed, there is a newer version of a dependency: that is a later plan.
#[rstest]
#[case::first_install(Sub { words: &[(FIRST_INSTALL, "Automatic")], ..manual("a", "") })]
#[case::pinned(Sub { words: &[(PIN, "true"), ("start", "a.v1")], ..manual("a", "") })]
fn what_comes_while_a_free_plan_is_under_way_is_asked_about(#[case] who: Sub) {
    let mut home = home(&[who]);
    let made = reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 0 for a"], &[]);
    assert_eq!(made, ["a.v1 x.v1 #1 Automatic of a"]);
    home.subscriptions.push(Arc::new(sub(DEPENDENCY)));
    home.csvs.insert("x.v1".to_owned(), CsvState::default());
    let made = reconcile(&mut home, &["a.v1 of 0 for a", "x.v2 of 0 for a,x"], &[]);
    assert_eq!(made, ["a.v1 x.v2 #2 Manual of a,x"]);
}

/// Where one plan is for all, one that is paused is asked as before, and what was installed on its behalf waits for it.
#[rstest]
#[case::it_is_manual(manual("a", "a.v1"), "b.v2 of 0 for b", Approval::Manual)]
#[case::it_is_automatic(auto("a", "a.v1"), "b.v2 of 0 for b", Approval::Automatic)]
#[case::its_dependency(auto("a", "a.v1"), "x.v2 of 0 for a,x", Approval::Manual)]
fn a_pause_approves_nothing_where_one_plan_is_for_all(
    #[case] who: Sub,
    #[case] choice: &str,
    #[case] expected: Approval,
) {
    let paused = Sub { words: &[(PAUSE, "true")], ..who };
    let home = home(&[paused, auto("b", "b.v1"), DEPENDENCY]);
    let part = Part::whole(&home, &[chosen(choice)]);
    assert_eq!(approval(&home, &part.selection), expected);
}
