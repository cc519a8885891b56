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
mod steps;

use crate::e2e::Scenario;

pub(super) use policy::Policy;

/// All scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    [
        catalog::all(),
        changed_by_hand::all(),
        csv::all(),
        deployment::all(),
        group::all(),
        neighbours::all(),
        refusal::all(),
        requirement::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
