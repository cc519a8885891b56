//! Subscriptions that wait for approval: time alone changes nothing.

use jiff::ToSpan;

use super::parts::{home, manual, reconcile};
use super::*;
use crate::install_plan::collect::surplus_of_each;

const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// Each has a plan of its own. However often they are looked at, nothing is written, and no plan goes.
#[test]
fn twelve_that_wait_are_left_alone_for_an_hour() {
    let mut home = home(&NAMES.map(|name| manual(name, "")));
    let chosen = NAMES.iter().enumerate();
    let chosen: Vec<String> =
        chosen.map(|(part, name)| format!("{name}.v1 of {part} for {name}")).collect();
    let chosen: Vec<&str> = chosen.iter().map(String::as_str).collect();
    assert_eq!(reconcile(&mut home, &chosen, &[]).len(), NAMES.len());
    let numbers: BTreeSet<_> = home.plans.iter().map(|plan| plan.spec.generation).collect();
    assert_eq!(numbers.len(), NAMES.len(), "plans share a number");
    let before = home.clone();
    for minute in (0_i64..=60).step_by(5) {
        let now = now() + minute.minutes();
        assert_eq!(decide_resolution(&home, now), ResolutionDecision::AllPending);
        assert!(surplus_of_each(&home.plans, &home.subscriptions).is_empty());
        assert_eq!(reconcile(&mut home, &chosen, &[]), [""; 0]);
    }
    assert_eq!(home.plans.len(), before.plans.len());
    let mut all = home.subscriptions.iter().zip(&before.subscriptions);
    assert!(all.all(|(now, before)| Arc::ptr_eq(now, before)), "a Subscription was written");
}
