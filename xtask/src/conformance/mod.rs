//! `cargo xtask conformance`: our operators measured against recordings of OLM v0.

mod objects;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Compares the objects that installations leave in a cluster
    Objects(objects::Arguments),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.subject {
        Subject::Objects(arguments) => objects::run(arguments),
    }
}
