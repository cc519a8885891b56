//! Runs programs of the workspace, passes their output on, and counts.
//!
//! Not cargo-nextest: it starts a process for each test, and scenarios share clusters that live in one
//! process. It would also have to be installed before the first run.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use super::output::{Results, summary_line};
use super::summary::Summary;
use crate::build::{BUILT, Executable, of_low_priority};
use crate::workspace::{cargo, root, target, xtask};
use olm_tools::times;

/// Runs test programs, two at a time where there are two processors, those that took longest first.
/// The output of each comes when it is over, as a whole. Those of `but` are left out.
pub(super) fn side_by_side(
    mut programs: Vec<&Executable>,
    but: &[TestSelection],
    summary: &mut Summary,
) {
    let left_out = |program: &Executable| but.iter().find(|tests| tests.is_of(program));
    programs.retain(|program| left_out(program).is_none_or(|tests| tests.test.is_some()));
    programs.sort_by_key(|program| std::cmp::Reverse(times::last(&remembered(program))));
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let (pending, done) = (Mutex::new(programs.into_iter()), Mutex::new(summary));
    let work = || {
        loop {
            let Some(program) = pending.lock().ok().and_then(|mut it| it.next()) else { return };
            let mut command = command(program);
            if let Some(test) = left_out(program).and_then(|tests| tests.test) {
                command.args(["--exact", "--skip", test]);
            }
            let begun = Instant::now();
            let (output, results) = captured(program, command);
            remember(program, begun.elapsed());
            let Ok(mut summary) = done.lock() else { return };
            println!("\n{} of {}\n{output}", program.name, program.package);
            count(program, results, &mut summary);
        }
    };
    thread::scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(work))));
}

/// A test program, or one test of it.
#[derive(Debug)]
pub(super) struct TestSelection {
    pub(super) package: &'static str,
    pub(super) program: &'static str,
    /// All of them when there is none.
    pub(super) test: Option<&'static str>,
}

impl TestSelection {
    /// Whether it is of this program.
    pub(super) fn is_of(&self, program: &Executable) -> bool {
        program.tests && program.package == self.package && program.name == self.program
    }
}

/// Tests that run while other stages do.
#[derive(Debug)]
pub(super) struct LowPriorityTests {
    program: Executable,
    running: JoinHandle<(String, Result<Results>)>,
}

impl LowPriorityTests {
    /// Has them run with the processor time that others leave.
    pub(super) fn begin(program: &Executable, test: Option<&str>) -> Self {
        let mut command = as_cargo_runs(program, of_low_priority(&program.path));
        command.args(test.iter().flat_map(|test| ["--exact", test]));
        let program = program.clone();
        let runs = program.clone();
        Self { program, running: thread::spawn(move || captured(&runs, command)) }
    }

    /// Waits for them, prints what they have printed, and counts them.
    ///
    /// # Errors
    /// The program has no such test.
    pub(super) fn finish(self, summary: &mut Summary) -> Result<()> {
        let ended = self.running.join();
        let (output, results) = ended.map_err(|_| anyhow!("reading its output has panicked"))?;
        let Executable { name, package, .. } = &self.program;
        println!("\n{name} of {package}\n{output}");
        let ran = results.as_ref().map_or(1, |it| it.passed + it.failed + it.not_run);
        count(&self.program, results, summary);
        ensure!(ran > 0, "{name} of {package} lacks the test that was asked for");
        Ok(())
    }
}

/// Runs a test program; its output is passed on line by line, to `take` as well.
pub(super) fn streamed(
    program: &Executable,
    variables: &[(&str, &str)],
    summary: &mut Summary,
    mut take: impl FnMut(&str),
) {
    let mut command = command(program);
    command.envs(variables.iter().copied());
    let mut results = Results::default();
    let ended = lines(command, |line| {
        println!("{line}");
        results.read(line);
        take(line);
    });
    count(program, ended.map(|_| results), summary);
}

/// Runs `cargo test` and counts.
pub(super) fn cargo_test(command: Command, summary: &mut Summary) {
    let mut results = Results::default();
    let ended = lines(command, |line| {
        println!("{line}");
        results.read(line);
    });
    let results = results.counted();
    summary.add(results.passed, results.failed);
    summary.add_not_run(results.not_run, &results.reasons);
    summary.name_failed(&results.failures, &results.said);
    match ended {
        Ok(good) if good || results.failed > 0 => {}
        Ok(_) => summary.check("cargo test", Err(anyhow!("it failed, see above"))),
        Err(error) => summary.check("cargo test", Err(error)),
    }
}

/// A developer command of this checkout, of which everything is built.
pub(super) fn developer_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(xtask());
    command.args(arguments).env(BUILT, target().join("debug"));
    command
}

/// Runs a developer command that ends with `N passed, N failed, N skipped`, and counts that.
///
/// # Errors
/// It cannot be run, or ends without such a line.
pub(super) fn counted(arguments: &[&str], summary: &mut Summary) -> Result<()> {
    let command = developer_command(arguments);
    let mut counts = Counts::default();
    let is_good = lines(command, |line| {
        println!("{line}");
        counts.read(line);
    })?;
    counts.add(&arguments.join(" "), is_good, summary)
}

/// What a developer command says that it has played, from the lines that it prints.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Passed, failed and skipped, as its last count says.
    counts: Option<[usize; 3]>,
    results: Results,
}

impl Counts {
    /// Takes a line in.
    pub(super) fn read(&mut self, line: &str) {
        self.counts = summary_line(line).or(self.counts);
        self.results.read(line);
    }

    /// Adds it, once the command is over.
    ///
    /// # Errors
    /// There was no count, or the command has failed though nothing in it did.
    pub(super) fn add(self, arguments: &str, is_good: bool, summary: &mut Summary) -> Result<()> {
        let counts = self.counts;
        let [passed, failed, skipped] =
            counts.with_context(|| format!("cargo xtask {arguments} counted nothing"))?;
        ensure!(is_good || failed > 0, "cargo xtask {arguments} failed");
        summary.add(passed, failed);
        summary.add_not_run(skipped, &self.results.reasons);
        if failed > 0 {
            summary.name_failed(&[format!("{failed} of cargo xtask {arguments}")], &[]);
        }
        Ok(())
    }
}

fn count(program: &Executable, results: Result<Results>, summary: &mut Summary) {
    match results {
        Ok(results) => {
            let results = results.counted();
            summary.add(results.passed, results.failed);
            summary.add_not_run(results.not_run, &results.reasons);
            summary.name_failed(&results.failures, &results.said);
        }
        Err(error) => summary.check(&program.name, Err(error)),
    }
}

fn captured(program: &Executable, mut command: Command) -> (String, Result<Results>) {
    let output = command.stderr(Stdio::piped()).stdout(Stdio::piped()).output();
    let output = match output.context("cannot run a test program") {
        Ok(output) => output,
        Err(error) => return (String::new(), Err(error)),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    let mut results = Results::default();
    printed.lines().for_each(|line| results.read(line));
    let good = output.status.success() || results.failed > 0;
    let results = match good {
        true => Ok(results),
        false => Err(anyhow!("{} ended with {}", program.name, output.status)),
    };
    (printed + &errors, results)
}

fn command(program: &Executable) -> Command {
    as_cargo_runs(program, Command::new(&program.path))
}

/// A command that runs a test program, with what cargo would give it. Snapshots are looked for in this checkout,
/// wherever the program was compiled.
fn as_cargo_runs(program: &Executable, mut command: Command) -> Command {
    command.current_dir(&program.folder).stdin(Stdio::null());
    command.env("CARGO_MANIFEST_DIR", &program.folder).env("CARGO", cargo().get_program());
    command.env("INSTA_WORKSPACE_ROOT", root());
    command
}

/// Runs a command and takes each line of its output in; returns whether it has succeeded.
fn lines(mut command: Command, mut take: impl FnMut(&str)) -> Result<bool> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run a program")?;
    let output = child.stdout.take().context("a program has no output")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read the output of a program")?;
        take(&String::from_utf8_lossy(&line));
    }
    Ok(child.wait().context("cannot wait for a program")?.success())
}

fn remembered(program: &Executable) -> String {
    format!("tests {} {}", program.package, program.name)
}

fn remember(program: &Executable, took: Duration) {
    times::remember(&remembered(program), took);
}
