//! `cargo xtask e2e`: plays the scenarios of `olm_testkit::e2e` on a cluster.
//!
//! They know the cluster only through its API, so the cluster may be a control plane with a
//! simulated node, a real node on this machine, kind, or whatever the kubeconfig points at.

mod clusters;
mod conflicts;
mod images;
mod output;
mod pods;
mod selection;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use olm_testkit::e2e::context::plans;
use olm_testkit::e2e::figures::{Figure, Figures, seconds};
use olm_testkit::e2e::provider::local;
use olm_testkit::e2e::report::Report;
use olm_testkit::e2e::runner::{self, Settings};
use olm_testkit::e2e::{Scenario, scenarios};
use olm_testkit::operators::OLM_NAMESPACE;

use crate::image::Profile;
use clusters::Running;
use xtask::workspace;

/// Arguments of the command.
#[derive(Debug, Default, Args)]
pub struct Arguments {
    /// What plays the cluster
    #[arg(long, value_enum, default_value_t)]
    cluster: Cluster,
    /// Plays only the scenarios with this in their names
    #[arg(long, value_name = "NAME")]
    focus: Option<String>,
    /// Names the scenarios and plays none
    #[arg(long)]
    list: bool,
    /// The folder for junit.xml, report.json and what failures leave behind [default: target/e2e]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// The image of OLM, which serves catalogs, too; built from this checkout without it
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Builds the images as they ship, which takes a quarter of an hour, and not of what was built for
    /// tests
    #[arg(long)]
    release: bool,
    /// Plays only the scenarios that need what a simulated node lacks
    #[arg(long)]
    needs_node: bool,
    /// Counts everything as skipped, and does not fail, where this machine cannot have the cluster
    #[arg(long)]
    or_skip: bool,
    /// Begins the scenarios that a busy machine disturbs when the standard input has ended
    #[arg(long)]
    alone_on_request: bool,
    /// Compares what `kubectl olm plan` shows of each installation and upgrade with what is done, on local
    #[arg(long)]
    plans: bool,
    /// Gets what the cluster and the scenarios need on this machine and may be got here, and plays nothing
    #[arg(long)]
    prepare: bool,
    /// The image that test operators run; built from this checkout without it
    #[arg(long, value_name = "IMAGE")]
    workload: Option<String>,
    /// The namespace with the Pods of OLM in the current cluster
    #[arg(long, value_name = "NAMESPACE", default_value = OLM_NAMESPACE)]
    olm_namespace: String,
    /// Scenarios under way at once [default: 8 on local, 4 elsewhere]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Uses the binaries in this folder on local instead of building them
    #[arg(long, value_name = "DIR")]
    binaries: Option<PathBuf>,
}

/// What can play the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cluster {
    /// A control plane on this machine with a simulated node; operators run as processes
    #[default]
    Local,
    /// The same with OLM v0, built from its Go module
    V0,
    /// A control plane and a real node on this machine; needs root on Linux
    Real,
    /// A cluster of kind; needs Docker and kind
    Kind,
    /// The cluster of the kubeconfig's current context, with OLM in it
    Current,
}

/// Runs the command.
///
/// # Errors
///
/// When the cluster cannot be used, a scenario fails, or none can be played.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut selected = selection::select(scenarios::all(), arguments.focus.as_deref())?;
    selected.retain(|scenario| !arguments.needs_node || lacks_something(scenario));
    if arguments.list {
        output::list(&selected);
        return Ok(());
    }
    if arguments.plans {
        ensure!(arguments.cluster == Cluster::Local, "--plans reads the audit log of local");
        plans::compare();
    }
    clusters::prepare_browser(&selected);
    if let Err(reason) = clusters::prepare(arguments) {
        if !arguments.or_skip && !arguments.prepare {
            return Err(reason);
        }
        output::not_run(&selected, &reason);
        return Ok(());
    }
    if arguments.prepare {
        return Ok(());
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let report = runtime.block_on(play(arguments, selected))?;
    plans::print_summary();
    output::summary_line(&report);
    let tally = report.tally();
    if tally.failed > 0 {
        bail!("{} failed: see {}", tally.failed, arguments.folder().display());
    }
    if tally.passed == 0 {
        bail!("nothing was played: what was skipped has not passed");
    }
    Ok(())
}

/// Whether a simulated node is not enough for a scenario.
fn lacks_something(scenario: &Scenario) -> bool {
    let simulated = local::facts();
    let mut of_a_node = scenario.needs.iter().filter(|need| !need.is_of_the_machine());
    of_a_node.any(|need| simulated.lacks(*need).is_some())
}

impl Arguments {
    /// The main job, done by the image that ships, on a real node.
    pub(crate) fn of_the_image_that_ships() -> Self {
        Self {
            cluster: Cluster::Real,
            focus: Some("smoke::".to_owned()),
            release: true,
            ..Self::default()
        }
    }

    fn profile(&self) -> Profile {
        if self.release { Profile::Release } else { Profile::Debug }
    }

    fn folder(&self) -> PathBuf {
        self.report.clone().unwrap_or_else(|| workspace::root().join("target/e2e"))
    }

    fn at_once(&self) -> usize {
        // Pods start and end on the other kinds of clusters, which share few processors.
        self.jobs.unwrap_or(if self.cluster == Cluster::Local { 8 } else { 4 })
    }
}

async fn play(arguments: &Arguments, selected: Vec<Scenario>) -> Result<Report> {
    let (begun, folder) = (Instant::now(), arguments.folder());
    output::clear(&folder)?;
    let running = clusters::start(arguments, &folder).await?;
    let played = play_on(&running, arguments, selected, begun).await;
    // The end of the cluster is tried whatever has happened, and neither error hides the other.
    let ended = running.end().await.context("the cluster did not end");
    let report = played?;
    report.write(&folder)?;
    ended.map(|()| report)
}

async fn play_on(
    running: &Running,
    arguments: &Arguments,
    selected: Vec<Scenario>,
    begun: Instant,
) -> Result<Report> {
    let version = running.provider.client().apiserver_version().await;
    let kubernetes = version.context("the API server does not answer")?.git_version;
    output::begin(arguments.cluster, &kubernetes, selected.len());
    let evidence = Some(arguments.folder());
    let settings = Settings { at_once: arguments.at_once(), evidence };
    let provider = Arc::clone(&running.provider);
    let quiet = until_requested(arguments.alone_on_request);
    let mut outcomes = runner::play_all(&provider, selected, &settings, quiet, output::print).await;
    if let Some(outcome) = conflicts::outcome(running.provider.facts())? {
        output::print(&outcome);
        outcomes.push(outcome);
    }
    let mut figures = running.figures().await;
    figures.push(Figure::new("wall time", seconds(begun.elapsed())));
    Ok(Report {
        cluster: arguments.cluster.to_string(),
        kubernetes,
        outcomes,
        figures: Figures(figures),
        took: begun.elapsed(),
    })
}

/// Waits for the end of the standard input, where that was asked for.
async fn until_requested(waits: bool) {
    if waits {
        let read = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        // An input that cannot be read has ended.
        let _ended = tokio::task::spawn_blocking(read).await;
    }
}

impl std::fmt::Display for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::V0 => "v0",
            Self::Real => "real",
            Self::Kind => "kind",
            Self::Current => "current",
        })
    }
}
