//! `cargo xtask conformance acceptance`: OLM v0's own acceptance suite, played against our operators.
//!
//! The suite is built from OLM's Go module and knows the cluster through its API only. The node is a
//! real one, our operators are deployed from `deploy/` with the flags that they have there. Nothing is
//! fetched from a registry: images that specs use are made of what is in this checkout (`images`).

mod cluster;
mod expected;
mod images;
mod report;
mod suite;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use olm_rig::RealCluster;
use olm_testkit::peer::AcceptanceSuite;
use olm_testkit::progress::Progress;

use crate::image::Profile;
use images::Images;
use report::Report;
use xtask::workspace;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only specs whose names, with those of what contains them, match this regular expression of Go
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
    /// The folder for what the suite writes [default: target/acceptance]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Plays the image as it ships, which takes a quarter of an hour to build, and not one of what was
    /// built for tests
    #[arg(long)]
    release: bool,
}

/// Runs the command.
///
/// # Errors
///
/// The suite or an image cannot be built, the cluster does not start, or a spec fails that
/// [`expected`] does not list, or passes that it lists as a difference.
pub fn run(arguments: &Arguments) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "a real node needs Linux");
    let progress = Progress::to_stderr();
    let cluster = RealCluster::for_this_command("acceptance", progress.clone())?;
    cluster.prepare_machine()?;
    let suite = AcceptanceSuite::ensure(&progress)?;
    let images = Images::build(arguments.profile(), &progress)?;
    let folder = std::path::absolute(arguments.folder()).context("cannot resolve a path")?;
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let reported = runtime.block_on(cluster::with_olm(cluster, &images, &suite, |kubeconfig| {
        let run = suite::Run { suite: &suite, kubeconfig, folder: &folder };
        run.play(arguments.focus.as_deref(), &progress)
    }))?;
    conclude(&reported)
}

fn conclude(report: &Report) -> Result<()> {
    println!("{report}");
    if report.is_good() {
        return Ok(());
    }
    bail!(
        "our operators do not do what specs of OLM v0 want, or a list of differences is out of date"
    )
}

impl Arguments {
    fn profile(&self) -> Profile {
        if self.release { Profile::Release } else { Profile::Debug }
    }

    fn folder(&self) -> PathBuf {
        self.report.clone().unwrap_or_else(|| workspace::root().join("target/acceptance"))
    }
}
