//! `cargo xtask test`: everything that must hold before a change is good.
//!
//! Every step runs even when an earlier one failed; the last line is the sum of all of them.
//! One feature set (all of them) serves every step, so that nothing is built twice.

mod cargo_test;
mod smoke;
mod summary;

use anyhow::Result;
use clap::Args;

use crate::workspace::{cargo, cargo_run};
use crate::{metrics, soak, tidy, workspace};
use summary::Summary;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Plays an end-to-end scenario on a real node afterwards, where this machine can have one
    #[arg(long)]
    smoke: bool,
}

/// What every step is built with.
const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

/// Up to this many scenarios that failed are played again.
const PLAYED_AGAIN: usize = 3;

/// Runs every step and fails when one of them did.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut summary = Summary::default();
    heading("tidy");
    match tidy::check_all() {
        Ok((passed, broken)) => {
            summary.add(passed, broken.len());
            broken.iter().for_each(|rule| summary.name_failed(&format!("tidy: {rule}")));
        }
        Err(error) => summary.check("tidy", Err(error)),
    }
    heading("format");
    summary.check("cargo fmt", cargo_run(&["fmt", "--all", "--check"]));
    heading("lints");
    let clippy = ["clippy", "--all-targets", "--", "-D", "warnings"];
    summary.check("cargo clippy", cargo_run(&with_everything(&clippy)));
    heading("documentation");
    summary.check("cargo doc", documentation());
    heading("programs that the scenarios start");
    summary.check("cargo build", cargo_run(&with_everything(&["build"])));
    heading("the page about metrics");
    summary.check("metrics", metrics::page_is_fresh(true));
    heading("alerts, evaluated by Prometheus' own tool");
    alerts(&mut summary);
    heading("unit tests, property tests and scenarios on a real API server");
    let failed = cargo_test::run(&with_everything(&["test", "--no-fail-fast"]), &mut summary);
    play_again(&failed, &mut summary);
    heading("a small catalog, installed, upgraded and removed");
    summary.check("soak", soak::run_sample());
    if arguments.smoke {
        heading("end to end on a real node");
        smoke::run(&mut summary);
    }
    summary.finish()
}

/// Inserts the feature set after the subcommand.
fn with_everything<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let (first, rest) = args.split_at(args.len().min(1));
    [first, &EVERYTHING, rest].concat()
}

/// Scenarios share one machine with each other; one that failed for that reason passes alone. It
/// counts as passed then and is named as unsteady. Other tests have no such excuse.
fn play_again(failed: &[String], summary: &mut Summary) {
    let scenarios = with_everything(&["test", "--test", "scenarios"]);
    let few = failed.len() <= PLAYED_AGAIN;
    for test in failed {
        if few {
            heading(&format!("{test} again, alone"));
        }
        match few && cargo_test::passes(&scenarios, test) {
            true => summary.passed_again(test),
            false => summary.name_failed(test),
        }
    }
}

/// Where the tool cannot be had, nothing passes and nothing fails.
fn alerts(summary: &mut Summary) {
    match metrics::promtool::prepare() {
        Ok(()) => summary.check("alerts", metrics::promtool::run()),
        Err(reason) => {
            println!("not run: the alerts: {reason:#}");
            summary.add_not_run(1);
        }
    }
}

fn documentation() -> Result<()> {
    let mut command = cargo();
    command.args(with_everything(&["doc", "--no-deps"])).env("RUSTDOCFLAGS", "-Dwarnings");
    workspace::succeed(command)
}

fn heading(title: &str) {
    println!("\n== {title}");
}
