//! The program behind `cargo xtask demo`, `cluster` and `demo-catalog`.

use std::process::ExitCode;

use clap::Parser;

/// Developer commands for every day.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: xtask_demo::Command,
}

fn main() -> ExitCode {
    xtask::exit_code(xtask_demo::run(Arguments::parse().command))
}
