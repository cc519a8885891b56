//! `cargo xtask conformance`: our operators measured against OLM v0: its acceptance suite, and recordings.

mod acceptance;
mod objects;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::resolve::conformance as resolver;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Plays the acceptance suite of OLM v0 on a real node
    Acceptance(acceptance::Arguments),
    /// Compares the objects that installations leave in a cluster
    Objects(objects::Arguments),
    /// Compares the outcomes of resolution cases
    Resolver(resolver::Arguments),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.subject {
        Subject::Acceptance(arguments) => acceptance::run(arguments),
        Subject::Objects(arguments) => objects::run(arguments),
        Subject::Resolver(arguments) => resolver::run(arguments),
    }
}
