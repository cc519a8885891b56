//! `cargo xtask bench snapshots`: what catalogs cost the catalog operator while it holds them, and how
//! long it takes to load one again.
//!
//! The measuring is a program of its own, an example of olm-catalog: nothing but snapshots and their
//! connections is in its memory. It has the limits, too.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use xtask::workspace;

/// Runs the example over these folders.
pub(super) fn run(release: bool, folders: &[PathBuf]) -> Result<()> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--package", "olm-catalog", "--example", "snapshot_figures"]);
    if release {
        command.arg("--release");
    }
    command.arg("--").current_dir(workspace::root());
    for folder in folders {
        let absolute = folder.canonicalize();
        command.arg(absolute.with_context(|| format!("there is no {}", folder.display()))?);
    }
    workspace::succeed(command).context("snapshots cost more than they may, or cannot be measured")
}
