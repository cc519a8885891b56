//! Runs the fuzz targets under the nightly toolchain, each for a while.
//!
//! New inputs go to the build folder; the committed corpus is only read.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use xtask::workspace;

/// A target may not need longer than this for one input, in seconds.
const TIMEOUT: u32 = 5;
/// A target may not need more memory than this, in MiB; the sanitizer's own share is in it.
const MEMORY: u32 = 1024;

/// Arguments of `cargo xtask fuzz`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The targets; all of them by default
    targets: Vec<String>,
    /// How long each one runs
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// What the run of one target came to.
struct Outcome {
    target: String,
    passed: bool,
    executions: u64,
}

/// Runs the targets one after the other and prints `N passed, N failed`.
///
/// # Errors
///
/// Fails if a target failed or could not be built, or if there is no cargo-fuzz.
pub fn run(arguments: &Arguments) -> Result<()> {
    let targets = chosen(&arguments.targets)?;
    build()?;
    let mut outcomes = Vec::new();
    for target in targets {
        outcomes.push(fuzz(target, arguments.seconds)?);
    }
    report(&outcomes)
}

/// The targets asked for, all if none is.
fn chosen(asked: &[String]) -> Result<Vec<String>> {
    let known = known()?;
    if let Some(unknown) = asked.iter().find(|target| !known.contains(target)) {
        bail!("there is no fuzz target {unknown}; there are {}", known.join(", "));
    }
    Ok(if asked.is_empty() { known } else { asked.to_vec() })
}

/// The targets that exist, sorted.
fn known() -> Result<Vec<String>> {
    let folder = workspace::root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).context("cannot list the fuzz targets")? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn build() -> Result<()> {
    let mut command = cargo_fuzz();
    command.arg("build");
    workspace::succeed(command)
        .context("needs a nightly toolchain and cargo-fuzz (cargo install cargo-fuzz)")
}

fn fuzz(target: String, seconds: u32) -> Result<Outcome> {
    println!("{target}: {seconds} s");
    let found = grown_corpus(&target)?;
    let mut child = cargo_fuzz()
        .args(["run", &target])
        .arg(&found)
        .arg(workspace::root().join("fuzz/corpus").join(&target))
        .args(["--", "-print_final_stats=1", &format!("-max_total_time={seconds}")])
        .args([format!("-timeout={TIMEOUT}"), format!("-rss_limit_mb={MEMORY}")])
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run cargo-fuzz")?;
    let output = child.stderr.take().context("cargo-fuzz has no standard error")?;
    let executions = watch(BufReader::new(output))?;
    Ok(Outcome { target, passed: child.wait()?.success(), executions })
}

/// Where the new inputs of a target are kept from run to run.
fn grown_corpus(target: &str) -> Result<PathBuf> {
    let folder = workspace::root().join("fuzz/target/corpus").join(target);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Shows what a failing target says and returns how many inputs were tried.
fn watch(output: impl BufRead) -> Result<u64> {
    let mut executions = 0;
    let mut failing = false;
    for line in output.lines() {
        let line = line?;
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            executions = count.trim().parse().unwrap_or(0);
        }
        failing |= line.contains("panicked at") || line.contains("ERROR:");
        if failing {
            eprintln!("{line}");
        }
    }
    Ok(executions)
}

fn report(outcomes: &[Outcome]) -> Result<()> {
    for Outcome { target, passed, executions } in outcomes {
        let verdict = if *passed { "passed" } else { "FAILED" };
        println!("{target:<12} {verdict}  {executions:>10} inputs");
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.passed).count();
    println!("{} passed, {failed} failed", outcomes.len() - failed);
    if failed > 0 {
        bail!("the inputs that failed are in fuzz/artifacts");
    }
    Ok(())
}

/// `cargo fuzz` under nightly, whatever toolchain runs this program.
fn cargo_fuzz() -> Command {
    let mut command = Command::new("rustup");
    command
        .current_dir(workspace::root())
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .args(["run", "nightly", "cargo", "fuzz"]);
    command
}
