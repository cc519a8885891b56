//! What a person reads while scenarios are played, and at the end.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use olm_testkit::e2e::report::Report;
use olm_testkit::e2e::{Outcome, Scenario, ScenarioResult};

use super::Cluster;

/// The mark of a folder that may be emptied.
const MARK: &str = "report.json";

/// Says why nothing was played, and counts.
pub(super) fn not_run(scenarios: &[Scenario], reason: &anyhow::Error) {
    scenarios.iter().for_each(|scenario| println!("skipped: {}: {reason:#}", scenario.name));
    println!("0 passed, 0 failed, {} skipped", scenarios.len());
}

/// Prints the name of each scenario with a line about it.
pub(super) fn list(scenarios: &[Scenario]) {
    let line = |scenario: &Scenario| format!("{}: {}\n", scenario.name, scenario.about);
    let text: String = scenarios.iter().map(line).collect();
    // Whoever reads only the first lines has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Removes the report of an earlier run, and nothing that is none.
pub(super) fn clear(folder: &Path) -> Result<()> {
    let context = || format!("cannot remove the earlier report in {}", folder.display());
    if folder.join(MARK).is_file() {
        std::fs::remove_dir_all(folder).with_context(context)?;
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {} for the report", folder.display()))
}

/// Prints where scenarios are about to be played.
pub(super) fn begin(cluster: Cluster, kubernetes: &str, count: usize) {
    let kind = match cluster {
        Cluster::Local => "a simulated node; operators run as processes",
        Cluster::V0 => "a simulated node; the programs of v0 run as processes",
        Cluster::Real => "a real node on this machine",
        Cluster::Kind => "a node in Docker",
        Cluster::Current => "the nodes of the current cluster",
    };
    let noun = if count == 1 { "scenario" } else { "scenarios" };
    println!("{count} {noun} on Kubernetes {kubernetes} with {kind}");
}

/// Prints how a scenario went.
pub(super) fn print(outcome: &Outcome) {
    let (name, took) = (outcome.name, outcome.took.as_secs_f64());
    match &outcome.verdict {
        ScenarioResult::Passed => println!("passed   {took:>6.1} s  {name}"),
        ScenarioResult::Skipped { .. } => println!("skipped            {name}"),
        ScenarioResult::Failed { message, evidence } => {
            println!("FAILED   {took:>6.1} s  {name}");
            message.lines().for_each(|line| println!("    {line}"));
            if let Some(folder) = evidence {
                println!("    objects, events and logs are in {}", folder.display());
            }
        }
    }
}

/// Prints figures, the summary line and why scenarios were skipped.
pub(super) fn summary_line(report: &Report) {
    println!();
    report.figures.iter().for_each(|figure| println!("{}: {}", figure.name, figure.value));
    println!("{}", report.summary_line());
}
