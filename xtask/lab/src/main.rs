//! Developer commands that measure, compare, try and release.

mod bench;
mod conformance;
mod crash;
mod docs_check;
mod e2e;
mod examples;
mod fuzz;
mod image;
mod manifests;
mod metrics;
mod plan_check;
mod release;
mod resolve;
mod scale;
mod soak;
mod take_over;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Developer commands that measure, compare, try and release.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes docs/metrics.md from what the operators register
    Metrics(metrics::Arguments),
    /// Writes deploy/ as two files for kubectl apply
    Manifests(manifests::Arguments),
    /// Measures the figures of the project
    Bench(bench::Arguments),
    /// Compares our operators and our resolver with OLM v0
    Conformance(conformance::Arguments),
    /// Builds the container image of everything that ships
    Image(image::Arguments),
    /// Resolves cases from standard input, one outcome per line
    Resolve(resolve::Arguments),
    /// Plays scenarios on a cluster, through its API only
    E2e(e2e::Arguments),
    /// Kills the operators after each of their writes and looks whether it matters
    Crash(crash::Arguments),
    /// Measures the operators at the size of a busy cluster
    Scale(scale::Arguments),
    /// Installs, upgrades and removes everything that a catalog has
    Soak(soak::Arguments),
    /// Compares what kubectl olm plan shows with what is done then
    PlanCheck(plan_check::Arguments),
    /// Runs the commands of docs/ as they stand there
    DocsCheck(docs_check::Arguments),
    /// Has OLM v0 and ours take over a cluster from each other
    TakeOver(take_over::Arguments),
    /// Runs the fuzz targets under the nightly toolchain, each for a while
    Fuzz(fuzz::Arguments),
    /// Builds and tests the programs of examples/, and plays one of them on a cluster
    Examples(examples::Arguments),
    /// Makes everything that a release consists of
    Release(release::Arguments),
}

fn main() -> ExitCode {
    xtask::exit_code(run(Arguments::parse().command))
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Metrics(arguments) => metrics::run(&arguments),
        Command::Manifests(arguments) => manifests::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Conformance(arguments) => conformance::run(&arguments),
        Command::Image(arguments) => image::run(&arguments),
        Command::Resolve(arguments) => resolve::run(&arguments),
        Command::E2e(arguments) => e2e::run(&arguments),
        Command::Crash(arguments) => crash::run(&arguments),
        Command::Scale(arguments) => scale::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::PlanCheck(arguments) => plan_check::run(&arguments),
        Command::DocsCheck(arguments) => docs_check::run(&arguments),
        Command::TakeOver(arguments) => take_over::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Examples(arguments) => examples::run(&arguments),
        Command::Release(arguments) => release::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn xtask_knows_these_commands() {
        let command = <Command as clap::Subcommand>::augment_subcommands(clap::Command::new(""));
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(xtask::commands::of("xtask-lab"), names);
    }
}
