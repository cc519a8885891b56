//! Steps for a CSV that another one has replaced in the meantime.
//!
//! A plan whose record was lost is executed from its first step again. When the version that it
//! installed is gone by then, because a newer one took over, the same steps would create it again
//! and put its older objects in the place of the newer ones. Such steps count as done, and so do
//! those for a CSV that is not wanted any more.

use std::collections::BTreeSet;

use olm_types::api::{Step, StepStatus};

/// The steps as they are to be executed. `replaced` names the CSVs that are gone from the namespace
/// of the plan, and that one which is there replaces; `unwanted` those that a user removed.
pub(super) fn skip(
    steps: &[Step],
    replaced: &BTreeSet<String>,
    unwanted: &BTreeSet<String>,
) -> Vec<Step> {
    let skip = |step: &Step| {
        let mut step = step.clone();
        if replaced.contains(&step.resolving) || unwanted.contains(&step.resolving) {
            step.status = StepStatus::Present;
        }
        step
    };
    steps.iter().map(skip).collect()
}
