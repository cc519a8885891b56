//! Plans that wait for several Subscriptions, while it changes who has to be asked.

use super::parts::{approve, auto, done, followed, home, manual, reconcile};
use super::*;
use crate::install_plan::requesters::Requesters;

const SHARED: [&str; 3] = ["a.v1 of 0 for a", "b.v1 of 0 for b", "x.v1 of 0 for a,b"];

/// Names of those that the newest plan asks.
fn asked(home: &Namespace) -> Vec<String> {
    let asked = Requesters::of(home.plans.last().unwrap()).unwrap();
    asked.approval.into_iter().collect()
}

#[test]
fn who_wants_to_be_asked_from_now_on_is_asked_by_a_plan_that_is_made_anew() {
    let mut home = home(&[manual("a", ""), auto("b", "")]);
    assert_eq!(reconcile(&mut home, &SHARED, &[]), ["a.v1 b.v1 x.v1 #1 Manual of a,b"]);
    assert_eq!(asked(&home), ["a"]);
    let sibling = Arc::make_mut(&mut home.subscriptions[1]);
    sibling.spec.install_plan_approval = Some(Approval::Manual);
    assert_eq!(reconcile(&mut home, &SHARED, &[]), ["a.v1 b.v1 x.v1 #2 Manual of a,b"]);
    assert_eq!(asked(&home), ["a", "b"]);
    assert_eq!(followed(&home), [("a".to_owned(), Some(2)), ("b".to_owned(), Some(2))]);
    assert_eq!(reconcile(&mut home, &SHARED, &[]), [""; 0], "it is made once");
}

/// The plan of the one was approved, and the other one is asked for what is left alone.
#[test]
fn who_has_approved_is_not_waited_for() {
    let mut home = home(&[manual("a", ""), manual("b", "")]);
    let sibling = home.subscriptions.pop().unwrap();
    reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 0 for a"], &[]);
    home.subscriptions.push(sibling);
    assert_eq!(reconcile(&mut home, &SHARED, &[]), ["a.v1 b.v1 x.v1 #2 Manual of a,b"]);
    assert_eq!(asked(&home), ["a", "b"]);
    approve(&mut home, 1);
    done(&mut home, 1);
    assert_eq!(reconcile(&mut home, &["b.v1 of 0 for b"], &[]), ["b.v1 #3 Manual of b"]);
}
