//! `cargo xtask bench catalog`: our registry server and `opm` in turn over one catalog.
//!
//! Both run as processes of their own with the same flags. A cold start makes the index, a warm one
//! finds it; both end with the first answer over gRPC. Memory is looked at after a listing. What asks
//! them is optimised, too: the program olm-registry-load. While it asks for single bundles, the
//! server has one processor and it has the others, so that the server is what is slow.

mod figures;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use olm_testkit::peer::Opm;
use olm_testkit::progress::Progress;

use figures::{Figures, are_as_wanted, print};
use xtask::workspace;

/// How often each program is measured.
const ROUNDS: usize = 5;

/// The programs that are built for this.
const PROGRAMS: [&str; 2] = ["olm-registry", "olm-registry-load"];

/// Measures both programs over the catalog in `dir`, or over a small one of this project. Over a
/// catalog that was named, what is wanted must be reached.
pub(super) fn run(dir: Option<&Path>) -> Result<()> {
    let progress = Progress::to_stderr();
    let is_named = dir.is_some();
    let made = workspace::root().join("olm-catalog/tests/catalogs/peculiar");
    let dir = dir.unwrap_or(&made);
    let opm = Opm::ensure(&progress)?;
    let [ours, load] = build(&progress)?;
    let (mut of_ours, mut of_opm) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress.step(format!("round {round} of {ROUNDS}: {}", dir.display()));
        of_ours.push(measure(&load, &ours, dir)?);
        of_opm.push(measure(&load, opm.program(), dir)?);
    }
    let (ours, opm) = (Figures::median(&of_ours), Figures::median(&of_opm));
    print(&ours, &opm);
    if is_named && !are_as_wanted(&ours, &opm) {
        bail!("not every ratio is as wanted");
    }
    Ok(())
}

/// Builds what would be shipped, and what measures it.
fn build(progress: &Progress) -> Result<[PathBuf; 2]> {
    progress.step("building olm-registry and olm-registry-load");
    let root = workspace::root();
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--release", "--package", "olm-catalog"]);
    command
        .args(["--package", "xtask-load", "--features", "olm-catalog/server"])
        .current_dir(&root);
    for program in PROGRAMS {
        command.args(["--bin", program]);
    }
    if !command.status().context("cannot run cargo")?.success() {
        bail!("the programs cannot be built");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let release = target.unwrap_or_else(|| root.join("target")).join("release");
    Ok(PROGRAMS.map(|program| release.join(program)))
}

/// One program, measured.
fn measure(load: &Path, program: &Path, catalog: &Path) -> Result<Figures> {
    let output = Command::new(load)
        .args([program, catalog])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run olm-registry-load")?;
    if !output.status.success() {
        bail!("{} cannot be measured", program.display());
    }
    serde_json::from_slice(&output.stdout).context("olm-registry-load prints no figures")
}
