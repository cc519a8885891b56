//! `cargo xtask bench catalog`: our registry server and `opm` in turn over one catalog.
//!
//! Both run as processes of their own with the same flags. A cold start makes the index, a warm one
//! finds it; both end with the first answer over gRPC. Memory is looked at after a listing.

mod figures;
mod subject;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use olm_testkit::peer::Opm;
use olm_testkit::progress::Progress;

use crate::workspace;
use figures::{Figures, print};

/// How often each program is measured.
const ROUNDS: usize = 3;

/// Measures both programs over the catalog in `dir`, or over a small one of this project.
pub(super) fn run(dir: Option<&Path>) -> Result<()> {
    let progress = Progress::to_stderr();
    let made = workspace::root().join("olm-catalog/tests/catalogs/peculiar");
    let dir = dir.unwrap_or(&made);
    let opm = Opm::ensure(&progress)?;
    let ours = build(&progress)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let (mut of_ours, mut of_opm) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress.step(format!("round {round} of {ROUNDS}: {}", dir.display()));
        of_ours.push(runtime.block_on(subject::measure(&ours, dir))?);
        of_opm.push(runtime.block_on(subject::measure(opm.program(), dir))?);
    }
    print(&Figures::median(&of_ours), &Figures::median(&of_opm));
    Ok(())
}

/// Builds what would be shipped.
fn build(progress: &Progress) -> Result<PathBuf> {
    progress.step("building olm-registry");
    let root = workspace::root();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--package", "olm-catalog"])
        .args(["--features", "server", "--bin", "olm-registry"])
        .current_dir(&root)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("olm-registry cannot be built");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or_else(|| root.join("target")).join("release/olm-registry"))
}
