//! The stages of a whole run, in their order.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

use super::Arguments;
use super::advisories;
use super::background::BackgroundCommand;
use super::beside::{Documentation, LongTests, Node};
use super::programs::{TestSelection, counted, developer_command, side_by_side, streamed};
use super::run::Run;
use super::shipped;
use crate::build::{self, Built, EVERYTHING, Executable, FEATURES, WORKSPACE};
use crate::program_builds::ProgramBuilds;
use crate::tidy;
use crate::workspace::{cargo, cargo_run};

/// The program with the scenarios on a cluster of its own.
pub(super) const SCENARIOS: &str = "scenarios";

/// The folder with a real catalog whose bundles hold their manifests.
const COMMUNITY: &str = "community";

/// Runs all of them.
pub(super) fn all(run: &mut Run) {
    let others = ProgramBuilds::for_tests(&run.progress);
    quick(run);
    run.stage("advisories about dependencies", |run| advisories::check(&mut run.summary));
    let Some(built) = compile(run) else { return };
    run.check("programs of others, as far as they are not built yet", |_| others.finish());
    run.check("machine", |_| command(&["e2e", "--cluster", "real", "--prepare"]));
    let mut node = Node::begin();
    let plans = begin_plans(run);
    run.check("the page about metrics", |_| command(&["metrics", "--check"]));
    run.stage("alerts, evaluated by Prometheus' own tool", |run| {
        played(run, &["metrics", "--alerts"]);
    });
    run.check("the demo, as the README has it", |_| command(&["demo"]));
    run.check("the page about Git", |_| command(&["docs-check", "--focus", "gitops"]));
    // Cargo lets one build wait for another, and those that were begun link an image first.
    run.stage("tests in the documentation", documented_tests);
    let documentation = Documentation::begin();
    let mut long_tests = LongTests::of(&built);
    run.stage("unit tests, property tests and snapshots", |run| {
        unit_tests(run, &built, &LongTests::ALL, |_| true);
    });
    run.stage("scenarios on real API servers", |run| {
        play(run, &built, &[], |line| {
            node.read(line);
            long_tests.iter_mut().for_each(|tests| tests.read(line));
        });
    });
    // They wait most of their time, for Kubernetes' garbage collector and until nothing is written any more.
    run.check("what is left of the demo's plans, begun before", |_| {
        plans.and_then(BackgroundCommand::finish)
    });
    run.stage("what is left of the scenarios on a real node, begun before", |run| node.end(run));
    run.stage("what is left of the longest unit tests, begun before", |run| {
        if let Err(error) = long_tests.and_then(|tests| tests.end(run)) {
            run.summary.check("the longest unit tests", Err(error));
        }
    });
    run.check("what is left of the documentation, begun before", |progress| {
        build::keep_own(&[&built, &documentation.finish()?], progress)
    });
    run.stage("the image that ships", image);
}

/// Has the plans of the demo's catalog compared, and those of a few packages of a real one.
fn begin_plans(run: &mut Run) -> Result<BackgroundCommand> {
    let corpus = std::env::var_os("OLM_CORPUS").map(PathBuf::from);
    let community = corpus.map(|corpus| corpus.join(COMMUNITY)).filter(|folder| folder.is_dir());
    match community {
        Some(folder) => {
            let folder = folder.to_string_lossy();
            BackgroundCommand::begin(&["plan-check", "--sample", &folder])
        }
        None => {
            let reason =
                format!("plans of real packages: OLM_CORPUS names no folder with {COMMUNITY}");
            run.summary.add_not_run(1, &[reason]);
            BackgroundCommand::begin(&["plan-check"])
        }
    }
}

/// Plays scenarios whose names begin in these ways, with what they need, so many times in a row.
pub(super) fn some_scenarios(run: &mut Run, names: &str, rounds: u32, arguments: &Arguments) {
    let others = ProgramBuilds::for_tests(&run.progress);
    let Some(built) = compile(run) else { return };
    run.check("programs of others, as far as they are not built yet", |_| others.finish());
    let folder = match arguments.release.then(|| released(run)) {
        Some(None) => return,
        folder => folder.flatten(),
    };
    let operators = folder.as_deref().map(|folder| ("OLM_OPERATORS", folder));
    let compares = arguments.plans.then_some(("OLM_PLANS", "1"));
    let names = [("OLM_SCENARIOS", names)];
    let variables: Vec<_> = names.into_iter().chain(compares).chain(operators).collect();
    for round in 1..=rounds {
        println!("round {round} of {rounds}");
        run.stage("scenarios that were asked for", |run| play(run, &built, &variables, |_| {}));
    }
}

/// Builds the operators that ship; their folder.
fn released(run: &mut Run) -> Option<String> {
    let built = run.stage("the operators that ship", |_| build::shipped::of_image());
    let folder = built.as_ref().ok().map(|folder| folder.display().to_string());
    run.summary.check("the operators that ship", built.map(drop));
    folder
}

/// What needs no build.
pub(super) fn quick(run: &mut Run) {
    run.stage("rules of the architecture and of the house style", |run| match tidy::check_all() {
        Ok((passed, broken)) => {
            run.summary.add(passed, broken.len());
            let broken: Vec<_> = broken.iter().map(|rule| format!("tidy: {rule}")).collect();
            run.summary.name_failed(&broken, &[]);
        }
        Err(error) => run.summary.check("tidy", Err(error)),
    });
    run.check("format", |_| cargo_run(&["fmt", "--all", "--check"]));
}

/// Builds everything with lints; nothing when it does not compile.
pub(super) fn compile(run: &mut Run) -> Option<Built> {
    let built = run.stage("programs, tests and lints", |run| {
        build::build("everything", &EVERYTHING, &run.progress)
    });
    match built {
        Ok(built) => {
            run.summary.check("build", Ok(()));
            run.summary.check("lints", no_warnings(&built));
            Some(built)
        }
        Err(error) => {
            run.summary.check("build", Err(error));
            None
        }
    }
}

/// Runs the test programs of some packages, apart from the scenarios and what `but` names.
pub(super) fn unit_tests(
    run: &mut Run,
    built: &Built,
    but: &[TestSelection],
    wanted: impl Fn(&str) -> bool,
) {
    let programs = built.executables.iter().filter(|one| one.tests && !is_scenarios(one));
    side_by_side(programs.filter(|one| wanted(&one.package)).collect(), but, &mut run.summary);
}

/// Plays scenarios, all of them or those whose names begin so.
pub(super) fn scenarios(run: &mut Run, built: &Built, only: Option<&str>) {
    let variables = only.map(|only| ("OLM_SCENARIOS", only));
    play(run, built, variables.as_slice(), |_| {});
}

fn play(run: &mut Run, built: &Built, variables: &[(&str, &str)], take: impl FnMut(&str)) {
    let program = built.executables.iter().find(|one| is_scenarios(one));
    match program {
        Some(program) => streamed(program, variables, &mut run.summary, take),
        None => run.summary.check(SCENARIOS, Err(anyhow::anyhow!("cargo has not built them"))),
    }
}

fn is_scenarios(program: &Executable) -> bool {
    program.tests && program.name == SCENARIOS
}

fn no_warnings(built: &Built) -> Result<()> {
    ensure!(built.warnings == 0, "{} warnings, see above", built.warnings);
    Ok(())
}

fn documented_tests(run: &mut Run) {
    let mut command = cargo();
    command.args(["test", "--quiet", "--doc", WORKSPACE, FEATURES]);
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    super::programs::cargo_test(command, &mut run.summary);
}

/// Runs a developer command that must succeed.
fn command(arguments: &[&str]) -> Result<()> {
    let status = developer_command(arguments).status()?;
    match status.success() {
        true => Ok(()),
        false => bail!("cargo xtask {} failed", arguments.join(" ")),
    }
}

/// Notes that it was tried only when all of it was played and passed.
fn try_image(run: &mut Run) {
    let before = run.summary.not_good();
    played(run, &["e2e", "--cluster", "real", "--release", "--focus", "smoke::", "--or-skip"]);
    if run.summary.not_good() == before {
        println!("it was tried; commit xtask/lab/image-tried, so that the next run need not do so");
        run.summary.check("the note that the image was tried", shipped::note());
    }
}

/// Runs a developer command that counts what it plays.
fn played(run: &mut Run, arguments: &[&str]) {
    if let Err(error) = counted(arguments, &mut run.summary) {
        run.summary.check(&arguments.join(" "), Err(error));
    }
}

/// Builds, starts and tries the image, where what decides how it is made has changed.
fn image(run: &mut Run) {
    match shipped::is_tried() {
        Ok(true) => println!(
            "it was tried as it would be made now; `cargo xtask image --try` does so again"
        ),
        Ok(false) => try_image(run),
        Err(error) => run.summary.check("the image that ships", Err(error)),
    }
}
