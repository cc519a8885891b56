//! Upgrades: an installed operator follows its catalog, one version after the other.
//!
//! The operator is a kettle. Every scenario has a kind of its own, because a
//! CustomResourceDefinition belongs to the whole cluster.

mod blocked;
mod changed_permissions;
mod channels;
mod edited;
mod kept;
mod many;
mod moved;
mod objects;
mod plan_order;
mod recorded;
mod replaces;
mod skips;

use crate::builders::{Bundle, Crd, Package};
use crate::e2e::scenarios::install::operator;
use crate::e2e::{Scenario, TestContext, scenario};

pub use recorded::Recorded;

/// All scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    edges().into_iter().chain(content()).collect()
}

/// Which version follows which.
fn edges() -> Vec<Scenario> {
    vec![
        scenario(
            "upgrades::two_versions_with_a_crd_change",
            "two upgrades in a row, the first of which changes the stored version of a kind",
            replaces::two_versions_with_a_crd_change,
        ),
        scenario(
            "upgrades::from_the_starting_csv",
            "startingCSV is installed first, and then what replaces it",
            replaces::from_the_starting_csv,
        ),
        scenario(
            "upgrades::a_bad_version_is_passed_over",
            "who does not have a skipped version never gets it",
            skips::a_bad_version_is_passed_over,
        ),
        scenario(
            "upgrades::a_bad_version_is_repaired",
            "who has a skipped version gets rid of it",
            skips::a_bad_version_is_repaired,
        ),
        scenario(
            "upgrades::a_range_of_versions",
            "a skipRange replaces versions that the catalog does not know any more",
            skips::a_range_of_versions,
        ),
        scenario(
            "upgrades::another_channel",
            "a Subscription moves to a faster channel",
            channels::switch_to_a_faster_one,
        ),
        scenario(
            "upgrades::a_missing_api",
            "an upgrade that needs a missing kind waits, the old version stays",
            blocked::a_missing_api,
        ),
        scenario(
            "upgrades::one_plan_at_a_time",
            "the plan of the next version waits until the older one is done",
            plan_order::one_plan_at_a_time,
        ),
        scenario(
            "upgrades::from_every_version",
            "operators of every age follow the edges of their channels to the newest version",
            many::from_every_version,
        ),
        scenario(
            "upgrades::absent_names",
            "what a version replaces and skips need not be in the catalog",
            many::absent_names,
        ),
    ]
}

/// What a version has that the one before it had not.
fn content() -> Vec<Scenario> {
    vec![
        scenario(
            "upgrades::other_objects",
            "objects that a bundle drops go when its version has succeeded, others change in place",
            objects::renamed_dropped_changed,
        ),
        scenario(
            "upgrades::until_the_plan_is_done",
            "what both versions bring stays, though the next version runs before its InstallPlan is done",
            kept::until_the_plan_is_done,
        ),
        scenario(
            "upgrades::other_rights",
            "an operator loses rights and gains others",
            changed_permissions::shrink_and_grow,
        ),
        scenario(
            "upgrades::edited_by_users",
            "a CSV that users changed is replaced like any other",
            edited::by_users,
        ),
        scenario(
            "upgrades::a_moved_api",
            "an API moves from one package to another",
            moved::to_another_package,
        ),
    ]
}

/// The kind of the kettles in a scenario.
pub fn kettles(ctx: &TestContext) -> Crd {
    ctx.kind("Kettle")
}

/// A version of the kettle; in its channel it follows nothing.
pub fn kettle(version: &str, kind: &Crd) -> Bundle {
    Bundle::new(version, &operator("kettle", version, kind)).provides(kind)
}

/// The package with one channel, `stable`.
pub fn stable(versions: &[Bundle]) -> [Package; 1] {
    [Package::new("kettle").channel("stable", versions.to_vec())]
}
