//! Developer commands for every day: `cargo xtask demo`, `cluster` and `demo-catalog`.

pub mod cluster;
pub mod demo;
pub mod demo_catalog;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

/// The commands of this program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows the main job: operators installed on a real API server
    Demo(demo::Arguments),
    /// Starts and ends local clusters
    Cluster(cluster::Arguments),
    /// Writes the demo's catalog into a folder
    DemoCatalog {
        /// The folder
        out: PathBuf,
        /// What it holds
        #[arg(long, value_enum, default_value_t)]
        edition: demo_catalog::Edition,
    },
}

/// Runs a command.
///
/// # Errors
/// Those of the command.
pub fn run(command: Command) -> Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::DemoCatalog { out, edition } => demo_catalog::write(edition, &out),
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn xtask_knows_these_commands() {
        let command = <Command as clap::Subcommand>::augment_subcommands(clap::Command::new(""));
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(xtask::commands::of("xtask-demo"), names);
    }
}
