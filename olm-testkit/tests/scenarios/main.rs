//! Scenarios on a real API server.
//!
//! One cluster and one pair of operators serve the whole run; each scenario has a namespace of
//! its own and they run side by side. The cluster starts with the first scenario that is not
//! filtered out and ends with the run, however that ends. Arguments are those of any Rust test.

mod alone;
mod api;
mod approval;
mod bad_input;
mod catalogs;
mod environment;
mod idle;
mod install;
mod operator_groups;
mod recovery;
mod removal;
mod resolution;
mod rest;
mod scene;
mod upgrades;

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use libtest_mimic::{Arguments, Failed, Trial};

use environment::Environment;
use scene::Scene;

/// Scenarios wait most of their time, so more run at once than there are processors.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let environment = match Environment::new() {
        Ok(environment) => Arc::new(environment),
        Err(error) => {
            eprintln!("scenarios cannot run: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let mut all = trials(&environment);
    all.extend(recovery::trials(&environment));
    let conclusion = libtest_mimic::run(&arguments, all);
    environment.end();
    conclusion.exit_code()
}

fn trials(environment: &Arc<Environment>) -> Vec<Trial> {
    let no_corpus = std::env::var_os("OLM_CORPUS").is_none();
    let corpus = trial(environment, "api::every_csv_of_the_corpus_is_accepted", api::corpus);
    vec![
        trial(environment, "install::an_operator", install::an_operator),
        trial(environment, "install::a_dependency", install::a_dependency),
        trial(environment, "install::manual_approval", install::manual_approval),
        trial(
            environment,
            "upgrades::two_versions_with_a_crd_change",
            upgrades::replaces::two_versions_with_a_crd_change,
        ),
        trial(
            environment,
            "upgrades::from_the_starting_csv",
            upgrades::replaces::from_the_starting_csv,
        ),
        trial(
            environment,
            "upgrades::a_bad_version_is_passed_over",
            upgrades::skips::a_bad_version_is_passed_over,
        ),
        trial(
            environment,
            "upgrades::a_bad_version_is_repaired",
            upgrades::skips::a_bad_version_is_repaired,
        ),
        trial(environment, "upgrades::a_range_of_versions", upgrades::skips::a_range_of_versions),
        trial(environment, "upgrades::another_channel", upgrades::channels::switch_to_a_faster_one),
        trial(environment, "upgrades::a_missing_api", upgrades::blocked::a_missing_api),
        trial(environment, "approval::nothing_happens_before", approval::nothing_happens_before),
        trial(environment, "approval::a_deleted_plan", approval::a_deleted_plan_is_made_anew),
        trial(environment, "approval::an_upgrade", approval::an_upgrade_waits_again),
        trial(environment, "approval::from_the_starting_csv", approval::from_the_starting_csv),
        trial(environment, "removal::a_subscription", removal::a_subscription),
        trial(environment, "removal::an_operator", removal::an_operator),
        trial(
            environment,
            "removal::an_operator_that_is_subscribed_to",
            removal::an_operator_that_is_subscribed_to,
        ),
        trial(environment, "operator_groups::none", operator_groups::none),
        trial(environment, "operator_groups::two", operator_groups::two),
        trial(environment, "catalogs::the_only_one_is_missing", catalogs::the_only_one_is_missing),
        trial(environment, "catalogs::one_is_missing", catalogs::one_is_missing),
        trial(environment, "resolution::missing_api", resolution::missing_api),
        trial(environment, "resolution::missing_package", resolution::missing_package),
        trial(environment, "alone::csv_by_hand", alone::csv_by_hand),
        trial(environment, "alone::no_catalog_operator", alone::no_catalog_operator),
        trial(environment, "idle::no_writes", idle::no_writes),
        trial(environment, "api::every_version_is_served", api::every_version_is_served),
        trial(environment, "api::made_csvs_are_accepted", api::made_csvs_are_accepted),
        corpus.with_ignored_flag(no_corpus),
        trial(environment, "bad_input::a_large_csv", bad_input::a_large_csv),
        trial(environment, "bad_input::a_crd_without_a_dot", bad_input::a_crd_without_a_dot),
        trial(environment, "bad_input::a_malformed_bundle", bad_input::a_malformed_bundle),
        trial(environment, "bad_input::a_broken_catalog", bad_input::a_broken_catalog),
    ]
}

/// A scenario with a namespace named after it.
fn trial<F, S>(environment: &Arc<Environment>, name: &'static str, scenario: S) -> Trial
where
    F: Future<Output = Result<()>>,
    S: FnOnce(Arc<Scene>) -> F + Send + 'static,
{
    let environment = Arc::clone(environment);
    Trial::test(name, move || {
        let run = environment.run(name, scenario);
        run.map_err(|error| Failed::from(format!("{error:#}")))
    })
}
