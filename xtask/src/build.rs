//! Builds of the workspace's programs and tests: one set of artefacts for every command.
//!
//! The packages, features and compiler are the same whatever is built, so that a test, a demo and a
//! measurement use each other's artefacts. The compiler is clippy's: lints cost no second build.

mod messages;

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::commands::Starts;
use crate::compiled;
use crate::others::Others;
use crate::progress::Progress;
use crate::times;
use crate::workspace::{cargo, succeed, target};
pub use messages::{Built, Executable};

/// What is built: every package, because features depend on which packages are named.
pub const WORKSPACE: &str = "--workspace";

/// Every feature but `jemalloc`, whose C sources take two minutes and which only an image needs.
pub const FEATURES: &str = "--features=olm-operator/otlp,catalog-operator/otlp,olm-catalog/tools,\
    olm-catalog/copy,olm-catalog/pull,olm-catalog/load";

/// The programs that clusters of tests and demos start.
const STARTED: [&str; 4] = ["olm-operator", "catalog-operator", "olm-registry", "olm-workload"];

/// Names the folder of programs to a program that was started for a command.
const PROGRAMS: &str = "OLM_PROGRAMS";

/// Has cargo write what each part of a build took into `target/cargo-timings`.
const TIMINGS: &str = "OLM_TIMINGS";

/// Everything cargo builds for a command, apart from what it does not name: targets and profile.
pub fn cargo_build(targets: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["build", "--quiet", "--message-format=json", WORKSPACE, FEATURES]);
    command.args(targets).env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    if std::env::var_os(TIMINGS).is_some() {
        command.arg("--timings");
    }
    command
}

/// Builds a command's program and what it starts, and replaces this process by it.
///
/// # Errors
/// Something does not compile, or the program cannot be run.
pub fn become_program(program: &str, starts: Starts, arguments: &[String]) -> Result<()> {
    let progress = Progress::new();
    let others = Others::for_command(starts, &progress);
    let started: &[&str] = if starts == Starts::Operators { &STARTED } else { &[] };
    let bins = started.iter().chain([&program]).flat_map(|name| ["--bin", *name]);
    build(&bins.collect::<Vec<_>>(), &progress)?;
    others.finish()?;
    let folder = target().join("debug");
    let mut command = Command::new(folder.join(program));
    command.args(arguments).env("CARGO", cargo().get_program());
    if starts == Starts::Operators {
        command.env(PROGRAMS, &folder);
    }
    Err(command.exec()).with_context(|| format!("cannot run {program}"))
}

/// Builds targets of the workspace, with what was compiled for an earlier checkout.
///
/// # Errors
/// Something does not compile; the compiler has said what.
pub fn build(targets: &[&str], progress: &Progress) -> Result<Built> {
    let kept = compiled::Kept::of_this_workspace()?;
    kept.bring(progress)?;
    let task = progress.begin("compiling");
    let mut child =
        cargo_build(targets).stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let name = format!("parts of {}", targets.join(" "));
    let expected = times::number(&name);
    let mut built = Built::default();
    for line in BufReader::new(output).lines() {
        built.read(&line.context("cannot read what cargo says")?, |text| progress.line(text));
        let of = expected.map(|all| format!(" of {all}")).unwrap_or_default();
        task.far(format!("{}{of} parts, ", built.parts));
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() {
        bail!("the workspace does not compile");
    }
    times::count(&name, built.parts);
    task.succeeded();
    kept.keep(&built.hashes, progress)?;
    Ok(built)
}

/// The folder with the programs that clusters start, built now unless whoever started this process
/// has done so.
///
/// # Errors
/// Something does not compile.
pub fn programs(release: bool) -> Result<PathBuf> {
    match std::env::var_os(PROGRAMS) {
        Some(folder) if !release => return Ok(folder.into()),
        _ => {}
    }
    let bins: Vec<&str> = STARTED.iter().flat_map(|name| ["--bin", *name]).collect();
    if !release {
        build(&bins, &Progress::new())?;
        return Ok(target().join("debug"));
    }
    let mut command = cargo();
    command.args(["build", "--quiet", "--release", WORKSPACE, FEATURES]).args(&bins);
    succeed(command)?;
    Ok(target().join("release"))
}
