//! `cargo xtask conformance objects`: what an installation leaves in a cluster, object for object.
//!
//! Each recording is played on a fresh local cluster with our operators; after every step the
//! objects of the cluster are brought into the form of the recordings and compared with them.
//! What [`accepted`] names is counted, every other difference is printed and fails the scenario.

mod accepted;
mod actions;
mod compare;
mod kinds;
mod normalise;
mod owners;
mod play;
mod recording;
mod report;
mod snapshot;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use olm_testkit::operators::Binaries;
use olm_testkit::process::Running;

use recording::Recording;
use report::RecordingResult;
use xtask::{build::programs, workspace};

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The folder with the recordings
    #[arg(env = "OLM_CONFORMANCE")]
    dir: Option<PathBuf>,
    /// The file-based catalog they were made with [default: ../../catalogs/community in DIR]
    #[arg(long)]
    catalog: Option<PathBuf>,
    /// Only scenarios with this in their name
    #[arg(long, value_name = "NAME")]
    focus: Option<String>,
    /// Only objects of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Names the scenarios and plays none
    #[arg(long)]
    list: bool,
    /// Keeps our objects after each step and the operators' logs in this folder
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// Uses the binaries in this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
    /// Builds and runs the operators as they would be shipped
    #[arg(long)]
    release: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let dir = folder(arguments)?;
    let mut recordings = recording::read_all(&dir)?;
    if let Some(wanted) = &arguments.focus {
        recordings.retain(|recording| recording.is_called(wanted));
    }
    if recordings.is_empty() {
        bail!("no scenario in {} matches", dir.display());
    }
    if arguments.list {
        recordings.iter().for_each(report::name);
        return Ok(());
    }
    let verdicts = play_all(arguments, &dir, &recordings)?;
    report::summary_line(&verdicts);
    match verdicts.iter().all(RecordingResult::passed) {
        true => Ok(()),
        false => bail!("our objects differ from those of OLM v0"),
    }
}

/// The folder that was named, or the one beside the checkout.
fn folder(arguments: &Arguments) -> Result<PathBuf> {
    let beside = workspace::root().join("../shared/conformance/objects");
    match &arguments.dir {
        Some(dir) => Ok(dir.clone()),
        None if beside.is_dir() => Ok(beside),
        None => bail!("there are no recordings: name their folder, or set OLM_CONFORMANCE"),
    }
}

fn play_all(
    arguments: &Arguments,
    dir: &Path,
    recordings: &[Recording],
) -> Result<Vec<RecordingResult>> {
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(arguments.release)?,
    };
    let catalog = arguments.catalog.clone().unwrap_or_else(|| dir.join("../../catalogs/community"));
    let logs = tempfile::tempdir().context("cannot create a directory")?;
    let (registry, address) = serve(&binaries, &catalog, logs.path())?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let mut verdicts = Vec::new();
    for recording in recordings {
        let setting = play::Setting {
            binaries: &binaries,
            catalog: &address,
            save: arguments.save.as_deref(),
            kind: arguments.kind.as_deref(),
        };
        report::name(recording);
        let verdict = RecordingResult::of(runtime.block_on(play::play(recording, &setting)));
        report::verdict(&verdict);
        verdicts.push(verdict);
    }
    registry.stop();
    Ok(verdicts)
}

/// Serves the catalog to all clusters.
fn serve(binaries: &Path, catalog: &Path, logs: &Path) -> Result<(Running, String)> {
    if !catalog.is_dir() {
        bail!("{} is no folder: name the catalog with --catalog", catalog.display());
    }
    let catalog = std::path::absolute(catalog).context("cannot resolve the path of the catalog")?;
    Binaries::in_dir(binaries, logs).registry("community", &catalog)
}
