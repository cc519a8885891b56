//! Developer commands: `cargo xtask help` lists them.

mod bench;
mod cluster;
mod codegen;
mod conformance;
mod crash;
mod crds;
mod demo;
mod demo_catalog;
mod docs_check;
mod e2e;
mod examples;
mod figures;
mod fuzz;
mod image;
mod manifests;
mod metrics;
mod rbac;
mod release;
mod resolve;
mod scale;
mod shapes;
mod soak;
mod stage;
mod take_over;
mod test;
mod tidy;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

/// Developer commands of olm-rs.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows the main job: operators installed on a real API server
    Demo(demo::Arguments),
    /// Runs every check and every test; what CI runs
    Test(test::Arguments),
    /// Checks the rules of the architecture and of the house style
    Tidy,
    /// Starts and ends local clusters
    Cluster(cluster::Arguments),
    /// Writes deploy/crds from the types
    Crds(Generate),
    /// Writes the operators' rights from the tables of what they use
    Rbac(Generate),
    /// Writes docs/metrics.md from what the operators register
    Metrics(metrics::Arguments),
    /// Writes deploy/ as two files for kubectl apply
    Manifests(manifests::Arguments),
    /// Writes the code of the registry protocol and the table of Go types
    Codegen(Generate),
    /// Writes the demo's catalog into a folder
    DemoCatalog {
        /// The folder
        out: PathBuf,
        /// What it holds
        #[arg(long, value_enum, default_value_t)]
        edition: demo_catalog::Edition,
    },
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
    /// Runs the commands of docs/ as they stand there
    DocsCheck(docs_check::Arguments),
    /// Has OLM v0 and ours take over a cluster from each other
    TakeOver(take_over::Arguments),
    /// Runs the fuzz targets under the nightly toolchain, each for a while
    Fuzz(fuzz::Arguments),
    /// Builds and tests the programs of examples/, and plays one of them on a cluster
    Examples(examples::Arguments),
    /// Counts lines of code and tests, files, functions, and what is not documented
    Figures,
    /// Makes everything that a release consists of
    Release(release::Arguments),
}

/// Arguments of a command that writes generated files.
#[derive(Debug, Args)]
struct Generate {
    /// Fails when a committed file is stale, and writes nothing
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Tidy => tidy::run(),
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Crds(generate) => crds::run(generate.check),
        Command::Rbac(generate) => rbac::run(generate.check),
        Command::Metrics(arguments) => metrics::run(&arguments),
        Command::Manifests(arguments) => manifests::run(&arguments),
        Command::Codegen(generate) => {
            codegen::run(generate.check)?;
            shapes::run(generate.check)
        }
        Command::DemoCatalog { out, edition } => demo_catalog::write(edition, &out),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Conformance(arguments) => conformance::run(&arguments),
        Command::Image(arguments) => image::run(&arguments),
        Command::Resolve(arguments) => resolve::run(&arguments),
        Command::E2e(arguments) => e2e::run(&arguments),
        Command::Crash(arguments) => crash::run(&arguments),
        Command::Scale(arguments) => scale::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::DocsCheck(arguments) => docs_check::run(&arguments),
        Command::TakeOver(arguments) => take_over::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Examples(arguments) => examples::run(&arguments),
        Command::Figures => figures::run(),
        Command::Release(arguments) => release::run(&arguments),
    }
}
