//! Every developer command: its program, what that starts, and a line about it.

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// What runs it.
    pub program: Program,
    /// What it starts, so that all of it is built in one go.
    pub starts: Starts,
    about: &'static str,
    /// Lines about its arguments, for commands of this program.
    arguments: &'static str,
}

/// What runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// This program.
    Xtask,
    /// An executable of the workspace.
    Other(&'static str),
}

/// What a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Nothing that is built before.
    Nothing,
    /// A control plane, or nothing when the cluster is another.
    Kubernetes,
    /// The operators and the registry on a control plane.
    Operators,
}

const DEMO: Program = Program::Other("xtask-demo");
const GENERATE: Program = Program::Other("xtask-generate");
const LAB: Program = Program::Other("xtask-lab");

const COMMANDS: [Command; 25] = [
    with(DEMO, Starts::Operators, "demo", "Shows the main job: operators on a real API server"),
    Command {
        name: "test",
        program: Program::Xtask,
        starts: Starts::Operators,
        about: "Runs every check and every test; what CI runs",
        arguments: "\
  --changed [BASE]  only what a change since BASE concerns: tests of the crates that it reaches, and
                    the scenarios that name them; without BASE, what is not committed yet
  --scenarios NAMES [--rounds NUMBER] [--plans] [--release]
                    only the scenarios on a simulated node whose names begin so, with commas between
                    (\"\" is all of them), so many times in a row; with --plans they compare what
                    kubectl olm plan shows of each installation and upgrade with what is done; with
                    --release they play the operators that ship, and say what memory these took
",
    },
    own("tidy", "Checks the rules of the architecture and of the house style"),
    own("figures", "Counts lines of code and tests, files, functions, and what is not documented"),
    with(DEMO, Starts::Kubernetes, "cluster", "Starts and ends local clusters"),
    with(DEMO, Starts::Nothing, "demo-catalog", "Writes the demo's catalog into a folder"),
    with(GENERATE, Starts::Nothing, "crds", "Writes deploy/crds from the types"),
    with(GENERATE, Starts::Nothing, "rbac", "Writes the operators' rights from what they use"),
    with(
        GENERATE,
        Starts::Nothing,
        "codegen",
        "Writes the registry protocol's code, Go types and v0's schemas",
    ),
    with(
        LAB,
        Starts::Nothing,
        "metrics",
        "Writes docs/metrics.md from what the operators register",
    ),
    with(LAB, Starts::Nothing, "manifests", "Writes deploy/ as two files for kubectl apply"),
    with(LAB, Starts::Nothing, "bench", "Measures the figures of the project"),
    with(
        LAB,
        Starts::Nothing,
        "conformance",
        "Compares our operators and our resolver with OLM v0",
    ),
    with(LAB, Starts::Nothing, "image", "Builds the container image of everything that ships"),
    with(LAB, Starts::Nothing, "resolve", "Resolves cases from standard input"),
    with(LAB, Starts::Operators, "e2e", "Plays scenarios on a cluster, through its API only"),
    with(LAB, Starts::Operators, "crash", "Kills the operators after each of their writes"),
    with(LAB, Starts::Kubernetes, "scale", "Measures the operators at the size of a busy cluster"),
    with(LAB, Starts::Operators, "soak", "Installs, upgrades and removes all that a catalog has"),
    with(
        LAB,
        Starts::Operators,
        "plan-check",
        "Compares what kubectl olm plan shows with what is done",
    ),
    with(LAB, Starts::Operators, "docs-check", "Runs the commands of docs/ as they stand there"),
    with(LAB, Starts::Operators, "take-over", "Has OLM v0 and ours take over a cluster"),
    with(LAB, Starts::Nothing, "fuzz", "Runs the fuzz targets under the nightly toolchain"),
    with(LAB, Starts::Operators, "examples", "Builds, tests and plays the programs of examples/"),
    with(LAB, Starts::Nothing, "release", "Makes everything that a release consists of"),
];

const fn own(name: &'static str, about: &'static str) -> Command {
    with(Program::Xtask, Starts::Nothing, name, about)
}

const fn with(
    program: Program,
    starts: Starts,
    name: &'static str,
    about: &'static str,
) -> Command {
    Command { name, program, starts, about, arguments: "" }
}

/// The command of a name.
pub fn find(name: &str) -> Option<Command> {
    COMMANDS.into_iter().find(|command| command.name == name)
}

/// The names of the commands that an executable runs, in the order of the list.
pub fn of(program: &str) -> Vec<&'static str> {
    let is_of =
        |command: &&Command| matches!(command.program, Program::Other(name) if name == program);
    COMMANDS.iter().filter(is_of).map(|command| command.name).collect()
}

/// What `help` prints.
pub fn help() -> String {
    let line = |command: &Command| format!("  {:<14}{}\n", command.name, command.about);
    let lines: String = COMMANDS.iter().map(line).collect();
    format!(
        "Developer commands of olm-rs: cargo xtask COMMAND\n\n{lines}\nCOMMAND --help says more.\n"
    )
}

impl Command {
    /// What `--help` prints of a command of this program.
    pub fn help(&self) -> String {
        format!("{}\n\ncargo xtask {}\n{}", self.about, self.name, self.arguments)
    }
}
