//! What all developer commands share: the checkout, builds of its programs, and what is said
//! meanwhile. It depends on next to nothing, because every command waits for it first.

pub mod build;
pub mod commands;
pub mod compiled;
pub mod examples_lock;
pub mod figures;
pub mod program_builds;
pub mod progress;
pub mod test;
pub mod tidy;
pub mod workspace;

use std::process::ExitCode;

use anyhow::Result;

/// Prints the error of a command, and says whether it has succeeded.
pub fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
