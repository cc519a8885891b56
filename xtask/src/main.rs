//! `cargo xtask`: finds the program of a developer command, builds it, and becomes it.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use xtask::commands::{self, Program};
use xtask::{build, figures, test, tidy};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    xtask::exit_code(run(&arguments))
}

fn run(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        eprint!("{}", commands::help());
        bail!("no command is named");
    };
    match name.as_str() {
        "help" | "--help" | "-h" => {
            print!("{}", commands::help());
            return Ok(());
        }
        _ => {}
    }
    let command = commands::find(name);
    let command = command.with_context(|| format!("there is no command {name}; see help"))?;
    match command.program {
        Program::Xtask if rest.iter().any(|word| word == "--help" || word == "-h") => {
            print!("{}", command.help());
            Ok(())
        }
        Program::Xtask => own(name, rest),
        Program::Other(program) => build::become_program(program, command.starts, arguments),
    }
}

fn own(name: &str, rest: &[String]) -> Result<()> {
    match name {
        "test" => test::run(&test::Arguments::parse(rest)?),
        "tidy" => tidy::run(),
        _ => figures::run(),
    }
}
