//! The table of Go types that olm-types embeds: how Go serialises the objects that OLM hashes.
//!
//! The table is made by the Go program in `xtask/goshapes`, which looks at the types by reflection.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use olm_testkit::cluster::tools;
use olm_testkit::progress::Progress;
use xtask::workspace;

/// Where the generated table lives, below the root of the workspace.
const TABLE: &str = "olm-types/src/hash/go_shapes.json";

/// Writes the table, or with `check` fails when the committed one differs from what would be written.
///
/// # Errors
/// When Go is missing or the program fails, the file cannot be written, or `check` finds a difference.
pub fn run(check: bool) -> Result<()> {
    let root = workspace::root();
    let table = generate(&root.join("xtask/goshapes"))?;
    let path = root.join(TABLE);
    if check {
        let committed = fs::read(&path).with_context(|| format!("cannot read {TABLE}"))?;
        ensure!(
            committed == table,
            "{TABLE} is stale: run `cargo xtask codegen` and commit the result"
        );
        return Ok(());
    }
    fs::write(&path, table).with_context(|| format!("cannot write {TABLE}"))
}

fn generate(folder: &Path) -> Result<Vec<u8>> {
    let go = tools::go(&Progress::to_stderr())?;
    let output = Command::new(go)
        .args(["run", "."])
        .current_dir(folder)
        .output()
        .context("cannot run `go run .` in xtask/goshapes")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "xtask/goshapes failed: {}", errors.trim());
    Ok(output.stdout)
}
