//! `cargo xtask soak CATALOG_DIR`: every version of every package of a catalog, through the real
//! path.
//!
//! On a local cluster a registry serves the catalog, and each package gets a namespace of its own:
//! the first version of each channel is installed and upgraded to the last, with an OperatorGroup for
//! each segment of the channel whose versions share an install mode; versions that no upgrade passes
//! are installed by themselves. Then everything is removed, and the cluster must be
//! what it was before. Bundles need their manifests inline; pods are simulated.
//!
//! A version that cannot succeed here, because the catalog lacks what it requires, the cluster does
//! not serve the kind of something that it ships, or no node meets its node selector, is named with the object and the field that
//! say so; every other one that does not succeed fails the command.

mod follow;
mod leftovers;
mod nodes;
mod package;
mod plan;
mod report;
mod sample;
mod segment_upgrade;
mod segments;
mod subscriptions;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use olm_testkit::builders::CatalogDir;
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::progress::Progress;

use plan::Subject;
use report::Line;
use xtask::build::programs;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A file-based catalog whose bundles have their manifests inline
    #[arg(required_unless_present = "sample")]
    dir: Option<PathBuf>,
    /// Takes a small catalog that is made for it
    #[arg(long, conflicts_with = "dir")]
    sample: bool,
    /// Only packages with this in their name
    #[arg(long, value_name = "NAME")]
    focus: Option<String>,
    /// Keeps the operators' logs in this folder
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// Uses the binaries in this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.dir {
        Some(dir) => run_over(dir, arguments),
        None => run_over(sample::catalog()?.path(), arguments),
    }
}

fn run_over(dir: &Path, arguments: &Arguments) -> Result<()> {
    let mut subjects = plan::read(dir)?;
    if let Some(wanted) = &arguments.focus {
        subjects.retain(|subject| subject.package.contains(wanted));
    }
    if subjects.is_empty() {
        bail!("no package in {} matches", dir.display());
    }
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(false)?,
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let logs = arguments.logs.as_deref();
    let lines = runtime.block_on(play_all(dir, logs, &binaries, &subjects))?;
    print!("{}", report::table(&lines));
    match lines.iter().all(Line::is_good) {
        true => Ok(()),
        false => bail!("not everything that is possible here succeeded and went away again"),
    }
}

async fn play_all(
    dir: &Path,
    logs: Option<&Path>,
    binaries: &Path,
    subjects: &[Subject],
) -> Result<Vec<Line>> {
    let progress = Progress::to_stderr();
    let fixture =
        Fixture::start("soak", &FixturePaths::of(binaries, logs), progress.clone()).await?;
    fixture.start_operators().await?;
    let catalog = CatalogDir::existing(std::path::absolute(dir)?);
    let address = fixture.serve(subscriptions::CATALOG, catalog)?;
    fixture.add_catalog(subscriptions::CATALOG, &address).await?;
    fixture.until_idle().await?;
    let mut lines = Vec::new();
    for (number, subject) in (1..).zip(subjects) {
        let versions = subject.versions.len();
        let place = format!("{} ({number} of {})", subject.package, subjects.len());
        progress.step(format!("{place}, {versions} versions"));
        let steps = progress.clone();
        let reported = Progress::new(move |line| steps.step(format!("{place}: {line}")));
        let played = package::play(subject, &fixture.client, &reported).await;
        // A dead operator explains a failure better than what was waited for.
        let line = fixture.check().and(played)?;
        println!("{line}");
        lines.push(line);
    }
    fixture.end().await?;
    Ok(lines)
}
