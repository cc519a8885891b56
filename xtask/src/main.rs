//! Developer commands: `cargo xtask help` lists them.

mod bench;
mod cluster;
mod codegen;
mod conformance;
mod crash;
mod crds;
mod demo;
mod demo_catalog;
mod shapes;
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
    Test,
    /// Checks the rules of the architecture and of the house style
    Tidy,
    /// Starts and ends local clusters
    Cluster(cluster::Arguments),
    /// Writes deploy/crds from the types
    Crds(Generate),
    /// Writes the code of the registry protocol and the table of Go types
    Codegen(Generate),
    /// Writes the demo's catalog into a folder
    DemoCatalog {
        /// The folder
        out: PathBuf,
    },
    /// Measures the figures of the project
    Bench(bench::Arguments),
    /// Compares our operators with recordings of OLM v0
    Conformance(conformance::Arguments),
    /// Kills the operators after each of their writes and looks whether it matters
    Crash(crash::Arguments),
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
        Command::Test => test::run(),
        Command::Tidy => tidy::run(),
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Crds(generate) => crds::run(generate.check),
        Command::Codegen(generate) => {
            codegen::run(generate.check)?;
            shapes::run(generate.check)
        }
        Command::DemoCatalog { out } => demo_catalog::write(&out),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Conformance(arguments) => conformance::run(&arguments),
        Command::Crash(arguments) => crash::run(&arguments),
    }
}
