//! `cargo xtask crash`: a restart at any moment does not matter.
//!
//! Each scenario is run once undisturbed on a real API server. Then it is run again for each
//! write of each operator, with that operator killed right after the write and started again. A
//! run has converged when the cluster holds the same objects as after the undisturbed one. What
//! chance and the clock decide is taken out (`olm_testkit::dump`), and so is the memory of the
//! way there: events, earlier phases of a CSV, whether a step of an InstallPlan created its object
//! or found it, which CSVs that are gone a CRD came with. The number of crash points, which may be writes of events, too, must be that of
//! the operators' writes in the audit log.

mod baseline;
mod context;
mod effects;
mod operators;
mod report;
mod run;
mod scenario;
mod scenarios;
mod setup;
mod sweep;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use report::Tally;
use scenario::Scenario;
use xtask::build::programs;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The only scenario to run
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Names the scenarios and runs none
    #[arg(long)]
    list: bool,
    /// Clusters that are used side by side
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// The only crash point to run: OPERATOR:NUMBER, for example catalog-operator:7
    #[arg(long, value_name = "POINT")]
    point: Option<String>,
    /// Keeps the operators' logs in this folder
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// Uses the binaries in this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut scenarios = scenarios::all();
    if arguments.list {
        scenarios.iter().for_each(|scenario| report::name(&**scenario));
        return Ok(());
    }
    if let Some(wanted) = &arguments.scenario {
        scenarios.retain(|scenario| scenario.name() == wanted);
        ensure!(!scenarios.is_empty(), "there is no scenario {wanted:?}; --list names them");
    }
    ensure!(arguments.jobs > 0, "--jobs needs at least one cluster");
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let tally = runtime.block_on(run_all(arguments, scenarios))?;
    report::summary_line(&tally);
    match tally.is_good() {
        true => Ok(()),
        false => bail!("a restart at the wrong moment makes a difference"),
    }
}

async fn run_all(arguments: &Arguments, scenarios: Vec<Box<dyn Scenario>>) -> Result<Tally> {
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(false)?,
    };
    let scratch = tempfile::tempdir().context("cannot create a directory")?;
    let logs = arguments.logs.clone().unwrap_or_else(|| scratch.path().to_owned());
    let mut stages = setup::start(arguments.jobs, &binaries, &logs).await?;
    let mut tally = Tally::default();
    for scenario in scenarios {
        let point = arguments.point.as_deref();
        let swept = sweep::sweep(&*scenario, &mut stages, point).await;
        tally.add(swept.with_context(|| format!("scenario {}", scenario.name()))?);
    }
    setup::stop(stages).await?;
    Ok(tally)
}
