//! `cargo xtask bench hosted`: what four catalogs of images cost that are polled and do not change, served
//! by Pods and by the operator.
//!
//! - [`catalogs`]: the images, and what serves them where no container runs;
//! - [`mod@measure`]: one implementation, from the first CatalogSource to a restart;
//! - [`leader`]: two replicas that serve, of which the leader is killed;
//! - [`report`]: the table.

mod catalogs;
mod leader;
mod measure;
mod report;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use olm_testkit::peer::OlmV0;
use olm_testkit::progress::Progress;

use super::olm::Implementation;
use catalogs::Catalogs;
use measure::{Measured, Mode, Windows};

/// Arguments of the command.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder of a file-based catalog that all four are made of; by default a small one of the tests
    #[arg(long, value_name = "FOLDER")]
    catalog: Option<PathBuf>,
    /// Seconds from one look for a newer image to the next one
    #[arg(long, default_value_t = 15, value_name = "SECONDS")]
    interval: u32,
    /// Seconds in which writes and requests are counted
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    window: u32,
    /// OLM v0, built from its Go module, does the same on a cluster of its own
    #[arg(long)]
    with_v0: bool,
    /// Keeps the operators' logs in this folder
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
}

/// Measures one after the other, and prints a table.
pub(super) async fn run(arguments: &Arguments, binaries: &Path) -> Result<()> {
    let progress = Progress::to_stderr();
    let catalogs = Catalogs::publish(arguments.catalog.as_deref()).await?;
    let windows = Windows { interval: arguments.interval, counted: arguments.window };
    let mut modes = vec![Mode::pods(Implementation::Ours), Mode::process()?];
    if arguments.with_v0 {
        modes.insert(0, Mode::pods(Implementation::V0(OlmV0::ensure(&progress)?)));
    }
    let mut measured: Vec<Measured> = Vec::new();
    for mode in modes {
        progress.step(format!("measuring {}", mode.title()));
        let logs = arguments.logs.as_deref();
        measured.push(measure::measure(mode, &catalogs, windows, (binaries, logs)).await?);
    }
    progress.step("killing the leader of two replicas");
    let leader = leader::killed(&catalogs, binaries).await?;
    print!("{}", report::table(&measured, windows));
    println!("{leader}");
    Ok(())
}
