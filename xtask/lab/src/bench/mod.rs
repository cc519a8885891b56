//! `cargo xtask bench`: figures of the project, each with the command that gives it.

mod catalog;
mod console;
mod corpus;
mod failover;
mod hosted;
mod install;
mod installs;
mod olm;
mod packages;
mod plan;
mod snapshots;
mod upgrade;
mod versions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::progress::Progress;

use crate::scale::table::Table;
use xtask::build::programs;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    subject: Subject,
    /// Measures what would be shipped
    #[arg(long, global = true)]
    release: bool,
    /// Uses the binaries in this folder instead of building them
    #[arg(long, global = true, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Our registry server against opm: start, memory, throughput
    Catalog {
        /// A folder with a file-based catalog; by default a small one of the tests
        dir: Option<PathBuf>,
    },
    /// The console: time of its pages, their size, memory, each beside its limit
    Console(console::Arguments),
    /// Snapshots in the catalog operator: memory held, time to load one again
    Snapshots {
        /// Folders with file-based catalogs
        #[arg(required = true)]
        folders: Vec<PathBuf>,
    },
    /// The packages API: time and size of lists, memory added
    Packages {
        /// Folders with file-based catalogs
        #[arg(required = true)]
        folders: Vec<PathBuf>,
    },
    /// `kubectl olm plan` with 30 Subscriptions: time of a resolution and of a plan, each beside its limit
    Plan {
        /// Folders with file-based catalogs; by default those that lie in the folder that OLM_CORPUS names
        catalogs: Vec<PathBuf>,
    },
    /// Two replicas of each operator: time without a leader, writes while nothing happens, memory of a standby
    Failover {
        /// How often each leader ends, in each of two ways
        #[arg(long, default_value_t = 20)]
        count: usize,
    },
    /// Four polled catalogs served by Pods and by the operator: writes, memory, time until READY, requests
    Hosted(hosted::Arguments),
    /// Five operators of a real catalog at once: time, CPU, writes and memory, beside what is wanted
    Installs {
        /// OLM v0, built from its Go module, does the same on a cluster of its own
        #[arg(long)]
        with_v0: bool,
        #[command(flatten)]
        arguments: installs::Arguments,
    },
    /// The same objects by a plain client: the least that such installs take
    Floor(installs::Arguments),
    #[command(flatten)]
    OnACluster(Figure),
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Figure {
    /// From a new Subscription to a Succeeded CSV, each time with a package and a kind of its own
    Install {
        /// How many packages are installed, one after the other
        #[arg(long, default_value_t = 10)]
        count: usize,
    },
    /// From a catalog with a newer version to its Succeeded CSV, approved automatically
    Upgrade {
        /// How many packages are upgraded, one after the other
        #[arg(long, default_value_t = 10)]
        count: usize,
    },
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Self::Install { .. } => "install",
            Self::Upgrade { .. } => "upgrade",
        }
    }

    async fn measure(self, fixture: &Fixture) -> Result<Vec<Duration>> {
        match self {
            Self::Install { count } => install::measure(fixture, count).await,
            Self::Upgrade { count } => upgrade::measure(fixture, count).await,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.subject {
        Subject::Catalog { dir } => catalog::run(dir.as_deref()),
        Subject::Snapshots { folders } => snapshots::run(arguments.release, folders),
        Subject::Packages { folders } => {
            let measure = async |fixture: &Fixture| packages::run(fixture, folders).await;
            within_limits(&on_a_cluster(arguments, measure)?)
        }
        Subject::Console(of) => {
            let measure = async |fixture: &Fixture| console::run(fixture, of).await;
            within_limits(&on_a_cluster(arguments, measure)?)
        }
        Subject::Plan { catalogs } => {
            let folders = corpus::folders(catalogs)?;
            let measure = async |dir: &Path| plan::run(&folders, dir);
            within_limits(&with_programs(arguments, measure)?)
        }
        Subject::Failover { count } => {
            on_a_cluster(arguments, async |fixture| failover::run(fixture, *count).await)
        }
        Subject::Hosted(of) => with_programs(arguments, async |dir| hosted::run(of, dir).await),
        Subject::Installs { with_v0, arguments: of } => {
            with_programs(arguments, async |dir| installs::run(of, *with_v0, dir).await)
        }
        Subject::Floor(of) => {
            with_programs(arguments, async |dir| installs::run_floor(of, dir).await)
        }
        Subject::OnACluster(figure) => {
            let measure = async |fixture: &Fixture| figure.measure(fixture).await;
            print(figure.name(), &mut on_a_cluster(arguments, measure)?);
            Ok(())
        }
    }
}

/// Measures on a cluster of its own, which is gone afterwards.
fn on_a_cluster<T>(
    arguments: &Arguments,
    measure: impl AsyncFnOnce(&Fixture) -> Result<T>,
) -> Result<T> {
    with_programs(arguments, async |dir| {
        let places = FixturePaths::of(dir, None);
        let fixture = Fixture::start("bench", &places, Progress::to_stderr()).await?;
        let measured = measure(&fixture).await;
        fixture.end().await?;
        measured
    })
}

/// Measures with the programs in a folder, which are built first unless it is named.
fn with_programs<T>(
    arguments: &Arguments,
    measure: impl AsyncFnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let dir = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(arguments.release)?,
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(measure(&dir))
}

/// Prints figures; one above its limit fails the command.
fn within_limits(table: &Table) -> Result<()> {
    print!("{table}");
    ensure!(table.is_within_limits(), "a figure is above its limit");
    Ok(())
}

fn print(what: &str, times: &mut [Duration]) {
    times.iter().zip(1..).for_each(|(time, number)| {
        println!("{what} {number:<3} {:.2} s", time.as_secs_f32());
    });
    times.sort();
    if let Some(median) = times.get(times.len() / 2) {
        println!("median of {}: {:.2} s", times.len(), median.as_secs_f32());
    }
}
