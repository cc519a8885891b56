//! `cargo xtask scale`: the operators at the size of a busy cluster.
//!
//! A subject fills a cluster, lets it converge and measures. The frame is the same for all:
//! - [`setup`]: a cluster and the operators under test, what they hold in memory, their restart;
//! - [`namespaces`]: namespaces by the thousand, and what is in each, made side by side;
//! - [`published`]: a catalog that they can see;
//! - [`requests`]: what the operators ask, write and list;
//! - [`latency`]: how long reconciles and resolutions take, by the operators' own histograms;
//! - [`measures`]: what several subjects measure alike;
//! - [`table`]: figures, each beside its limit; one above its limit fails the command.
//!
//! A further subject is one folder with `Arguments` and a function from a [`Setup`] to a
//! [`Table`], and one line each in [`Subject`] and its `measure`.
//!
//! The load goes through the API alone, so `--cluster current` works with operators that run
//! somewhere else. Their memory is then read from their metrics (`--metrics`), and what only the
//! audit log or a restart of a process can measure is said to be not measured.

mod catalogs;
mod copies;
mod crds;
mod csv_counter;
mod csvs;
mod doctor;
mod installs;
mod latency;
mod measures;
mod namespaces;
mod published;
mod requests;
mod setup;
mod succeeded;
pub(crate) mod table;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use olm_testkit::operators::Operator;

use setup::{Endpoint, Setup};
use table::Table;
use xtask_demo::cluster::Backend;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    subject: Subject,
    /// What plays the cluster; current: operators are there already
    #[arg(long, global = true, value_enum, default_value_t)]
    cluster: Backend,
    /// Where an operator of the current cluster serves metrics: NAME=ADDRESS:PORT
    #[arg(long, global = true, value_name = "ENDPOINT")]
    metrics: Vec<Endpoint>,
    /// Uses the binaries in this folder instead of building them as they would be shipped
    #[arg(long, global = true, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
    /// Keeps the operators' logs in this folder
    #[arg(long, global = true, value_name = "FOLDER")]
    logs: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Many namespaces with a converged CSV each
    Csvs(csvs::Arguments),
    /// Many catalogs with an address, and nothing to do
    Catalogs(catalogs::Arguments),
    /// Operators that watch all namespaces, in a cluster with many
    Copies(copies::Arguments),
    /// A Subscription in each of many namespaces, at the same time
    Installs(installs::Arguments),
    /// A new version of a CRD with very many objects
    Crds(crds::Arguments),
    /// kubectl olm doctor in a cluster with many namespaces
    Doctor(doctor::Arguments),
}

impl Subject {
    /// The operators that the subject is about.
    fn operators(&self) -> &'static [Operator] {
        match self {
            Self::Csvs(_) => &[Operator::Olm],
            Self::Catalogs(_)
            | Self::Copies(_)
            | Self::Installs(_)
            | Self::Crds(_)
            | Self::Doctor(_) => &Operator::ALL,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Csvs(_) => "csvs",
            Self::Catalogs(_) => "catalogs",
            Self::Copies(_) => "copies",
            Self::Installs(_) => "installs",
            Self::Crds(_) => "crds",
            Self::Doctor(_) => "doctor",
        }
    }

    async fn measure(&self, setup: &mut Setup) -> Result<Table> {
        match self {
            Self::Csvs(arguments) => csvs::measure(arguments, setup).await,
            Self::Catalogs(arguments) => catalogs::measure(arguments, setup).await,
            Self::Copies(arguments) => copies::measure(arguments, setup).await,
            Self::Installs(arguments) => installs::measure(arguments, setup).await,
            Self::Crds(arguments) => crds::measure(arguments, setup).await,
            Self::Doctor(arguments) => doctor::measure(arguments, setup).await,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let table = runtime.block_on(async {
        let mut setup = Setup::set(arguments, arguments.subject.operators()).await?;
        let whole = setup.progress.begin(&format!("scale {}", arguments.subject.name()));
        let measured = arguments.subject.measure(&mut setup).await;
        if measured.is_ok() {
            whole.succeeded(true);
        }
        // A dead operator explains a failure better than what was waited for.
        let measured = setup.check().and(measured);
        setup.tear_down().await.and(measured)
    })?;
    print!("{table}");
    match table.is_within_limits() {
        true => Ok(()),
        false => bail!("a figure is above its limit"),
    }
}
