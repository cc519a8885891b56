//! `kubectl olm`: what is installed, what an approval approves, what is wrong.
//!
//! It reads through the API server with the rights of its user, for OLM v0 and for olm-rs. Results go to
//! standard output, everything else to standard error. The exit code is 0 when all is well, 1 for an
//! error, 2 for findings or changes where that was asked for, 3 when a plan depends on what was not read, 4
//! when time ran out.

mod args;
mod commands;
mod connection;
mod output;
mod plan;

use std::process::ExitCode;

use clap::Parser;
use olm_client::TimedOut;

use args::Cli;
use commands::NotInTime;
use output::Output;

/// What a command has found, beside what it printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Nothing that a script has to know.
    Fine,
    /// Findings or changes, and the user asked for an exit code.
    Findings,
    /// Something that the answer depends on was not read.
    Incomplete,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(commands::run(&cli)),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(2),
        Ok(Outcome::Incomplete) => ExitCode::from(3),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            Output::complain(&format!("error: {error:#}"));
            ExitCode::from(if is_late(&error) { 4 } else { 1 })
        }
    }
}

/// Whether time ran out.
fn is_late(error: &anyhow::Error) -> bool {
    error.downcast_ref::<TimedOut>().is_some() || error.downcast_ref::<NotInTime>().is_some()
}

/// Help goes to standard output and is no error; clap's own code for misuse, 2, would mean findings.
fn usage(error: &clap::Error) -> ExitCode {
    // Where this goes to is closed when it fails.
    let _ = error.print();
    ExitCode::from(u8::from(error.use_stderr()))
}
