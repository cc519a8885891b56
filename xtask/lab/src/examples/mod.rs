//! `cargo xtask examples`: the programs of `examples/`, built and tested as those of any user.
//!
//! They are outside the workspace and see only what the crates export. Their versions are
//! those of the workspace's lock file, and what is built goes to its target folder. At last one of
//! them, an OLM with two rules more, is played on a real API server.

mod play;

use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use xtask::examples_lock::{self as lock, MANIFEST};

use xtask::build::programs;
use xtask::workspace::{cargo_run, root, succeed, target};

/// The operators with rules of the house.
const HOUSE: &str = "house-olm";

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Takes the versions of the workspace's lock file over, and does nothing else
    #[arg(long)]
    lock: bool,
    /// Does not play them on a cluster
    #[arg(long)]
    no_play: bool,
}

/// Runs the command.
///
/// # Errors
/// An example is not built, fails its tests, reaches what it must not, or does not do its job.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.lock {
        return lock::write();
    }
    check()?;
    if arguments.no_play {
        return Ok(());
    }
    play()
}

/// Builds and tests them.
///
/// # Errors
/// As [`run`].
pub(crate) fn check() -> Result<()> {
    lock::check()?;
    cargo_run(&["fmt", "--all", "--check", "--manifest-path", MANIFEST])?;
    let folder = target();
    let folder = folder.to_str().context("the path of the target folder is no text")?;
    let where_to = ["--locked", "--quiet", "--manifest-path", MANIFEST, "--target-dir", folder];
    cargo_run(&[&["build"][..], &where_to].concat())?;
    cargo_run(&[&["test"][..], &where_to].concat())?;
    let sample = root().join("examples/what-if/sample");
    let mut what_if = Command::new(target().join("debug/what-if"));
    what_if.args([sample.join("catalogs"), sample.join("team.yaml")]);
    succeed(what_if)
}

fn play() -> Result<()> {
    let registries = programs(false)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(play::house(&target().join("debug").join(HOUSE), &registries))
}
