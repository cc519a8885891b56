//! The commands below `opm alpha`, of which Jobs use one.

use anyhow::Result;
use clap::Subcommand;

use super::Extract;

/// Arguments of `alpha`.
#[derive(Debug, clap::Args)]
pub struct Alpha {
    #[command(subcommand)]
    command: AlphaCommand,
}

#[derive(Debug, Subcommand)]
enum AlphaCommand {
    /// Work with bundles
    #[command(subcommand)]
    Bundle(BundleCommand),
}

#[derive(Debug, Subcommand)]
enum BundleCommand {
    /// Put the files of a bundle folder into a ConfigMap
    Extract(Extract),
}

impl Alpha {
    /// Runs the command.
    ///
    /// # Errors
    /// Those of the command.
    pub async fn run(self) -> Result<()> {
        let AlphaCommand::Bundle(BundleCommand::Extract(extract)) = self.command;
        extract.run().await
    }
}
