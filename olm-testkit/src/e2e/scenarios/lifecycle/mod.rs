//! The life of a ClusterServiceVersion that a user applies by hand: health, refusals,
//! requirements, replacement, what a Subscription changes, and the end.

mod chains;
mod deletion;
mod health;
mod overrides;
mod refusals;
mod requirements;
mod steps;

use crate::e2e::{Scenario, scenario};

/// All scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    [health(), refusals(), requirements(), chains(), others()].into_iter().flatten().collect()
}

fn health() -> Vec<Scenario> {
    vec![
        scenario(
            "lifecycle::a_deployment_as_v0_makes_it",
            "labels, owner, annotations, variable and history limit of a Deployment are v0's",
            health::a_deployment_as_v0_makes_it,
        ),
        scenario(
            "lifecycle::a_deployment_behind_our_back",
            "what is added to a Deployment stays until it is installed again, a deleted one comes back",
            health::a_deployment_behind_our_back,
        ),
        scenario(
            "lifecycle::a_deployment_gone_while_installing",
            "a Deployment that is deleted before it is ready is installed again, not waited for until the timeout",
            health::a_deployment_gone_while_installing,
        ),
        scenario(
            "lifecycle::a_changed_csv",
            "a changed container and a new annotation of a CSV are rolled out, orphans go",
            health::a_changed_csv,
        ),
        scenario(
            "lifecycle::a_missed_deadline",
            "a Deployment that misses its deadline fails the CSV until it recovers",
            health::a_missed_deadline,
        ),
    ]
}

fn refusals() -> Vec<Scenario> {
    vec![
        scenario(
            "lifecycle::a_refused_template",
            "what the API server refuses is said at the CSV, its neighbour installs",
            refusals::a_refused_template,
        ),
        scenario(
            "lifecycle::a_scoped_account",
            "an account that may not install stops the install until it may",
            refusals::a_scoped_account,
        ),
        scenario(
            "lifecycle::hundreds_of_deployments",
            "an operator with hundreds of Deployments installs, and its neighbour does not wait",
            refusals::hundreds_of_deployments,
        ),
        scenario(
            "lifecycle::invalid_csvs",
            "unknown strategies, empty rules and impossible install modes are said at the CSV",
            refusals::invalid_csvs,
        ),
    ]
}

fn requirements() -> Vec<Scenario> {
    vec![
        scenario(
            "lifecycle::missing_kinds",
            "requirementStatus is fresh while kinds are missing, and when one goes",
            requirements::missing_kinds,
        ),
        scenario(
            "lifecycle::a_second_owner",
            "a CSV that is refused after its requirements were found shows them",
            requirements::a_second_owner,
        ),
        scenario(
            "lifecycle::missing_rights",
            "a CSV waits for its account and the rights of that, and is woken by each",
            requirements::missing_rights,
        ),
        scenario(
            "lifecycle::rights_of_the_old_version",
            "a new version waits for rights of its own, and never fails when those of the old one go",
            requirements::rights_of_the_old_version,
        ),
    ]
}

fn chains() -> Vec<Scenario> {
    vec![
        scenario(
            "lifecycle::a_chain_in_any_order",
            "of three versions that share a Deployment the last one stays",
            chains::in_any_order,
        ),
        scenario(
            "lifecycle::another_selector",
            "a version that wants another selector gets a new Deployment",
            chains::another_selector,
        ),
        scenario(
            "lifecycle::predecessors",
            "a version replaces one that never was, and waits for one that failed",
            chains::predecessors,
        ),
        scenario("lifecycle::a_circle", "CSVs that replace each other say so", chains::a_circle),
        scenario(
            "lifecycle::an_operator_that_is_busy",
            "an operator that is not upgradeable is not upgraded, unless an administrator overrides it",
            chains::an_operator_that_is_busy,
        ),
    ]
}

fn others() -> Vec<Scenario> {
    vec![
        scenario(
            "lifecycle::overrides",
            "what a Subscription configures reaches the pods, and changes roll them",
            overrides::of_a_subscription,
        ),
        scenario(
            "lifecycle::several_owners",
            "what two CSVs own goes with the second one, also when deleted in the foreground",
            deletion::several_owners,
        ),
    ]
}
