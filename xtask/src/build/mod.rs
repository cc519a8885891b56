//! Builds of the workspace's programs and tests: one set of artefacts for every command.
//!
//! The packages, features and compiler are the same whatever is built, so that a test, a demo and a
//! measurement use each other's artefacts. The compiler is clippy's: lints cost no second build.

mod messages;
pub mod shipped;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::commands::Starts;
use crate::compiled;
use crate::program_builds::ProgramBuilds;
use crate::progress::Progress;
use crate::workspace::{cargo, root, target};
pub use messages::{Built, Executable};
use olm_tools::times;

/// What is built: every package, because features depend on which packages are named.
pub const WORKSPACE: &str = "--workspace";

/// Every feature but `jemalloc`, whose C sources take two minutes and which only what ships needs.
pub const FEATURES: &str = "--features=olm-operator/otlp,catalog-operator/otlp,olm-catalog/tools,\
    olm-catalog/copy,olm-catalog/pull,olm-catalog/store";

/// Everything there is. A benchmark is named, because `--benches` would take every program for one.
pub const EVERYTHING: [&str; 6] =
    ["--lib", "--bins", "--examples", "--tests", "--bench", "resolve"];

/// The programs that clusters of tests and demos start.
const STARTED: [&str; 6] = [
    "olm-operator",
    "catalog-operator",
    "olm-registry",
    "olm-workload",
    "kubectl-olm",
    "olm-console",
];

/// Names the folder of programs to a program that was started for a command.
const PROGRAMS: &str = "OLM_PROGRAMS";

/// Names the folder with the programs of the workspace to a command that runs inside of a run of all checks, which
/// has built [`EVERYTHING`]: cargo is not asked again, as it looks at each part, and lets one build wait for another.
pub const BUILT: &str = "OLM_BUILT";

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
    let built = std::env::var_os(BUILT).map(PathBuf::from);
    let built = built.filter(|folder| folder.join(program).is_file());
    let is_inside = std::env::var_os(PROGRAMS).is_some();
    let progress = if is_inside { Progress::quiet() } else { Progress::new() };
    let others = ProgramBuilds::for_command(starts, &progress);
    let folder = match built {
        Some(folder) => folder,
        None => build_program(program, starts, &progress)?,
    };
    others.finish()?;
    let mut command = Command::new(folder.join(program));
    command.args(arguments).env("CARGO", cargo().get_program());
    if starts == Starts::Operators {
        command.env(PROGRAMS, &folder);
    }
    Err(command.exec()).with_context(|| format!("cannot run {program}"))
}

/// Builds a command's program and what it starts, and returns their folder.
fn build_program(program: &str, starts: Starts, progress: &Progress) -> Result<PathBuf> {
    let started: &[&str] = if starts == Starts::Operators { &STARTED } else { &[] };
    let bins = started.iter().chain([&program]).flat_map(|name| ["--bin", *name]);
    let what = if started.is_empty() { program } else { "the operators and what plays them" };
    build(what, &bins.collect::<Vec<_>>(), progress)?;
    Ok(target().join("debug"))
}

/// Builds targets of the workspace, with what was compiled for an earlier checkout. `what` says for
/// what, for whoever waits.
///
/// # Errors
/// Something does not compile; the compiler has said what.
pub fn build(what: &str, targets: &[&str], progress: &Progress) -> Result<Built> {
    let name = format!("compiling {what}");
    run(&name, cargo_build(targets), progress).with_context(|| format!("{what} does not compile"))
}

/// Renders the documentation, with what was compiled for an earlier checkout, and with the processor time that others
/// leave.
///
/// # Errors
/// It has a warning, or something does not compile.
pub fn document(progress: &Progress) -> Result<Built> {
    let mut command = of_low_priority(cargo().get_program());
    command.current_dir(root());
    command.args(["doc", "--quiet", "--message-format=json", "--no-deps", WORKSPACE, FEATURES]);
    command.env("RUSTDOCFLAGS", "-Dwarnings");
    run("documentation", command, progress).context("the documentation has errors")
}

/// A program that gets the processor time that others leave. Linux schedules it when no other task can run, so that it
/// delays none.
pub fn of_low_priority(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "19"]);
    if cfg!(target_os = "linux") {
        command.args(["chrt", "--idle", "0"]);
    }
    command.arg(program);
    command
}

/// Keeps what these builds made of the workspace's own packages for a checkout with the same sources.
///
/// # Errors
/// It cannot be copied.
pub fn keep_own(builds: &[&Built], progress: &Progress) -> Result<()> {
    compiled::CompiledCache::of_this_workspace()?.keep_own(builds, progress)
}

/// Runs a command of cargo that says in JSON what it does, and keeps compiled dependencies.
fn run(name: &str, mut command: Command, progress: &Progress) -> Result<Built> {
    let kept = compiled::CompiledCache::of_this_workspace()?;
    kept.bring(progress)?;
    let task = progress.begin(name);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let counted = format!("parts: {name}");
    let of = times::number(&counted).map(|all| format!(" of {all}")).unwrap_or_default();
    let mut built = Built::default();
    for line in BufReader::new(output).lines() {
        built.read(&line.context("cannot read what cargo says")?, |text| progress.line(text));
        task.far(format!("{}{of} parts, ", built.parts));
    }
    let status = child.wait().context("cannot wait for cargo")?;
    ensure!(status.success(), "cargo ended with {status}");
    times::count(&counted, built.parts);
    // What was there already says nothing of what the next build takes.
    task.succeeded(built.fresh * 2 < built.parts);
    kept.keep(&built.hashes, progress)?;
    Ok(built)
}

/// The folder with the programs that clusters start, built now unless whoever started this process
/// has done so.
///
/// # Errors
/// Something does not compile.
pub fn programs(release: bool) -> Result<PathBuf> {
    match [PROGRAMS, BUILT].into_iter().find_map(std::env::var_os) {
        Some(folder) if !release => return Ok(folder.into()),
        _ => {}
    }
    if release {
        return shipped::all();
    }
    build("the operators", &bins(&STARTED), &Progress::new())?;
    Ok(target().join("debug"))
}

fn bins<'a>(programs: &[&'a str]) -> Vec<&'a str> {
    programs.iter().flat_map(|name| ["--bin", *name]).collect()
}
