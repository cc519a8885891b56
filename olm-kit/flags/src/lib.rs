//! Command lines as Go's pflag reads them, which all programs of OLM v0 use.
//!
//! Flags are declared with clap as usual; [`read`] has them read in pflag's way:
//!
//! - a flag that is given again replaces what was said before, unless it is a list, which grows;
//! - an empty value (`--tls-key=`) is a value; the programs take it for none;
//! - a flag that is on or off takes the words of Go's `strconv.ParseBool`, behind `=` only: without it
//!   the flag is on, whatever stands behind it;
//! - any other flag takes what follows, though that may begin with a dash;
//! - a flag that is not known is an error.

mod command;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use clap::{Error, Parser};
use thiserror::Error;

pub use command::command;

/// Reads a line that begins with the name of the program.
///
/// # Errors
/// When a flag is not known, lacks its value, or has one that makes no sense; and when help is asked for.
pub fn read<A: Parser>(line: impl IntoIterator<Item = impl Into<OsString>>) -> Result<A, Error> {
    let mut command = command(A::command());
    let line: Vec<OsString> = line.into_iter().map(Into::into).collect();
    let mut matches = command.try_get_matches_from_mut(line)?;
    A::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The line of this process. Prints and ends it when help is asked for, or when the line makes no sense.
pub fn of_this_process<A: Parser>() -> A {
    read(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// A word that means neither.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is neither true nor false")]
pub struct BooleanError(String);

/// What a word means: the words of Go's `strconv.ParseBool`, and no others.
///
/// # Errors
/// It is none of them.
pub(crate) fn parse_bool(text: &str) -> Result<bool, BooleanError> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(BooleanError(text.to_owned())),
    }
}
