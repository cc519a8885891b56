//! What a user removes while two InstallPlans are under way does not come back.
//!
//! The plan of the installed version is stuck: its bundle has an object of a kind that the cluster
//! does not serve. The plan of the next version waits for it.

mod held;
mod orders;
mod two_plans;

use crate::e2e::{Scenario, scenario};

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    orders::all().into_iter().chain(held()).collect()
}

fn held() -> Vec<Scenario> {
    vec![
        scenario(
            "uninstall::subscription_being_deleted",
            "the plans of a Subscription that is being deleted are not started",
            held::subscription_being_deleted,
        ),
        scenario(
            "uninstall::orphaned_plans",
            "a plan that a deleted Subscription left behind is not started",
            held::orphaned_plans,
        ),
        scenario(
            "uninstall::replaced_csv_deleted",
            "a plan that waited does not bring back an operator whose CSV was deleted meanwhile",
            held::replaced_csv_deleted,
        ),
        scenario(
            "uninstall::one_of_two",
            "what two Subscriptions asked for together is planned anew when one of them is deleted",
            held::one_of_two,
        ),
    ]
}
