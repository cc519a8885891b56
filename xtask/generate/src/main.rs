//! Developer commands that write committed files from their sources. A test of each says when a
//! committed file is stale.

mod codegen;
mod crds;
mod rbac;
mod schemas;
mod shapes;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

/// Commands that write committed files.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes deploy/crds from the types
    Crds(Generate),
    /// Writes the operators' rights from the tables of what they use
    Rbac(Generate),
    /// Writes the code of the registry protocol, the table of Go types and the schemas of v0
    Codegen(Generate),
}

/// Arguments of a command that writes generated files.
#[derive(Debug, Args)]
struct Generate {
    /// Fails when a committed file is stale, and writes nothing
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    xtask::exit_code(run(Arguments::parse().command))
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Crds(generate) => crds::run(generate.check),
        Command::Rbac(generate) => rbac::run(generate.check),
        Command::Codegen(generate) => {
            codegen::run(generate.check)?;
            shapes::run(generate.check)?;
            schemas::run(generate.check)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn xtask_knows_these_commands() {
        let command = <Command as clap::Subcommand>::augment_subcommands(clap::Command::new(""));
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(xtask::commands::of("xtask-generate"), names);
    }

    #[test]
    fn the_definitions_are_fresh() {
        super::crds::run(true).unwrap();
    }

    #[test]
    fn the_registry_protocol_is_fresh() {
        super::codegen::run(true).unwrap();
    }

    #[test]
    fn the_schemas_of_v0_are_fresh() {
        super::schemas::run(true).unwrap();
    }

    #[test]
    fn the_table_of_go_types_is_fresh() {
        super::shapes::run(true).unwrap();
    }
}
