//! `cargo xtask plan-check`: what `kubectl olm plan` shows is what is done then.
//!
//! On a local cluster each package of a catalog is installed, upgraded to the end of its default channel, and
//! removed. Before each step its plan is written down; afterwards the audit log of the API server says which
//! objects were created, changed and deleted, the cluster says which rights and images there are, and both have
//! to be what was shown. Catalogs are folders; without one it is the demo's. `--v0` has OLM v0 do the steps.

mod checked_catalog;
mod content;
mod program;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use olm_testkit::builders::CatalogDir;
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::progress::Progress;
use xtask::build::programs;
use xtask_demo::demo_catalog::{Edition, write};

use checked_catalog::{CheckedCatalog, Line, Selection};
use program::Program;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// File-based catalogs, or folders with several of them; the demo's when there is none
    dirs: Vec<PathBuf>,
    /// Only packages with this in their name
    #[arg(long, value_name = "NAME")]
    focus: Option<String>,
    /// Beside them, the first packages of this catalog whose default channel has a single bundle
    #[arg(long, value_name = "FOLDER")]
    sample: Option<PathBuf>,
    /// Has OLM v0 do the steps
    #[arg(long)]
    v0: bool,
    /// Keeps the operators' logs in this folder
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// Uses the binaries in this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Something was done that was not shown, or shown and not done.
pub fn run(arguments: &Arguments) -> Result<()> {
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(false)?,
    };
    let demo = tempfile::tempdir().context("no folder for the demo's catalog")?;
    let catalogs = match arguments.dirs.as_slice() {
        [] => {
            write(Edition::Update, demo.path())?;
            vec![demo.path().to_owned()]
        }
        dirs => catalogs(dirs)?,
    };
    let mut catalogs: Vec<(PathBuf, Selection<'_>)> = catalogs
        .into_iter()
        .map(|dir| (dir, Selection::Named(arguments.focus.as_deref())))
        .collect();
    if let Some(sample) = &arguments.sample {
        catalogs.push((std::path::absolute(sample)?, Selection::Smallest(SAMPLE)));
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let lines = runtime.block_on(play(arguments, &binaries, &catalogs))?;
    report(&lines)
}

/// The catalogs in folders: a folder without files holds several.
fn catalogs(dirs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for dir in dirs {
        let entries = std::fs::read_dir(dir).with_context(|| format!("no {}", dir.display()))?;
        let mut below: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        below.sort();
        let is_several = !below.is_empty() && below.iter().all(|path| is_catalog_of_files(path));
        match is_several {
            true => found.extend(below),
            false => found.push(std::path::absolute(dir)?),
        }
    }
    ensure!(!found.is_empty(), "there is no catalog in these folders");
    Ok(found)
}

/// Whether a folder is a catalog by itself: in `catalogs/NAME/*.json` the inner one is.
fn is_catalog_of_files(path: &Path) -> bool {
    path.is_dir() && path.join(".catalog").is_file()
}

async fn play(
    arguments: &Arguments,
    binaries: &Path,
    catalogs: &[(PathBuf, Selection<'_>)],
) -> Result<Vec<Line>> {
    let progress = Progress::to_stderr();
    let places = FixturePaths::of(binaries, arguments.logs.as_deref());
    let mut lines = Vec::new();
    for (number, (catalog, selection)) in (1..).zip(catalogs) {
        progress.step(format!("catalog {number} of {}: {}", catalogs.len(), catalog.display()));
        let checked = match arguments.v0 {
            true => CheckedCatalog::of_v0(&places, catalog, progress.clone()).await?,
            false => CheckedCatalog::of_ours(&places, catalog, progress.clone()).await?,
        };
        let before = lines.len();
        let played = checked.play(*selection, &mut lines).await;
        checked.end().await.and(played)?;
        let is_sample = matches!(selection, Selection::Smallest(_));
        let is_compared = lines.iter().skip(before).any(|line| line.is_same() || line.is_other());
        ensure!(is_compared || !is_sample, "nothing of {} was compared", catalog.display());
    }
    Ok(lines)
}

fn report(lines: &[Line]) -> Result<()> {
    let count = |wanted: fn(&Line) -> bool| lines.iter().filter(|line| wanted(line)).count();
    let (same, other) = (count(|line| line.is_same()), count(|line| line.is_other()));
    let refused = lines.len() - same - other;
    println!("{same} steps as shown, {other} not, {refused} with problems that were shown");
    ensure!(same > 0, "nothing was compared");
    if other > 0 {
        bail!("something was done that was not shown, or shown and not done");
    }
    Ok(())
}

/// So many packages are a sample: an installation and a removal of each, which mostly wait until OLM is at rest.
const SAMPLE: usize = 2;

/// What a catalog is called in the cluster.
const CATALOG: &str = "checked";

/// A cluster with the catalog and OLM of this project.
async fn ours(places: &FixturePaths, catalog: &Path, progress: Progress) -> Result<Fixture> {
    let fixture = Fixture::start("plan-check", places, progress).await?;
    fixture.start_operators().await?;
    let address = fixture.serve(CATALOG, CatalogDir::existing(catalog.to_owned()))?;
    fixture.add_catalog(CATALOG, &address).await?;
    fixture.until_idle().await?;
    Ok(fixture)
}

fn program(binaries: &Path, fixture: &Fixture, catalog: &Path) -> Program {
    Program {
        path: binaries.join("kubectl-olm"),
        kubeconfig: fixture.kubeconfig.clone(),
        catalog: format!("{OLM_NAMESPACE}/{CATALOG}={}", catalog.display()),
    }
}
