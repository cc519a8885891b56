//! Which plans come first.

use olm_types::annotations::PAUSE;

use super::*;

/// It is approved, and not begun while its Subscription holds it back: what has begun goes on meanwhile.
#[test]
fn an_older_plan_that_is_held_is_not_waited_for() {
    let mut observed = of_subscription_a();
    let mut older = InstallPlan::clone(&numbered(&observed, 1, "a"));
    older.spec.approved = true;
    older.status.as_mut().unwrap().phase = InstallPlanPhase::RequiresApproval;
    observed.siblings = vec![Arc::new(older)];
    assert!(matches!(decide(&observed, now()), Decision::Wait { .. }));
    let subscription = Arc::make_mut(&mut observed.around.subscriptions[0]);
    subscription.annotations_mut().insert(PAUSE.to_owned(), "true".to_owned());
    assert!(matches!(decide(&observed, now()), Decision::Execute(_)));
}
