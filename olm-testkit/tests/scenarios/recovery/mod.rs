//! What goes wrong is readable where it goes wrong, and heals without a restart of an operator
//! once its cause is gone.

mod catalog;
mod changed_by_hand;
mod csv;
mod deployment;
mod group;
mod neighbours;
mod policy;
mod refusal;
mod requirement;
mod words;

use std::sync::Arc;

use libtest_mimic::Trial;

use crate::environment::Environment;
use crate::trial;

/// All scenarios of this folder.
pub fn trials(environment: &Arc<Environment>) -> Vec<Trial> {
    let e = environment;
    vec![
        trial(e, "recovery::catalog::dies_and_returns", catalog::dies_and_returns),
        trial(e, "recovery::catalog::is_late", catalog::is_late),
        trial(
            e,
            "recovery::changed_by_hand::deployment_deleted",
            changed_by_hand::deployment_deleted,
        ),
        trial(e, "recovery::changed_by_hand::hash_edited", changed_by_hand::hash_edited),
        trial(e, "recovery::changed_by_hand::owner_removed", changed_by_hand::owner_removed),
        trial(e, "recovery::changed_by_hand::template_edited", changed_by_hand::template_edited),
        trial(
            e,
            "recovery::changed_by_hand::config_map_deleted",
            changed_by_hand::config_map_deleted,
        ),
        trial(
            e,
            "recovery::changed_by_hand::subscription_wiped",
            changed_by_hand::subscription_wiped,
        ),
        trial(e, "recovery::csv::deleted", csv::deleted),
        trial(e, "recovery::csv::finalizer_removed", csv::finalizer_removed),
        trial(e, "recovery::csv::status_wiped", csv::status_wiped),
        trial(e, "recovery::csv::annotations_stripped", csv::annotations_stripped),
        trial(e, "recovery::deployment::no_node", deployment::no_node),
        trial(e, "recovery::deployment::no_quota", deployment::no_quota),
        trial(e, "recovery::deployment::deadline", deployment::deadline),
        trial(e, "recovery::group::deleted", group::deleted),
        trial(e, "recovery::group::a_second_one", group::a_second_one),
        trial(e, "recovery::neighbours::garbage", neighbours::garbage),
        trial(e, "recovery::refusal::for_a_while", refusal::for_a_while),
        trial(e, "recovery::refusal::forbidden", refusal::forbidden),
        trial(e, "recovery::refusal::for_good", refusal::for_good),
        trial(e, "recovery::requirement::crd", requirement::crd),
        trial(e, "recovery::requirement::account", requirement::account),
        trial(e, "recovery::requirement::binding", requirement::binding),
    ]
}
