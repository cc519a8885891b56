//! Command lines: the flags that every operator understands.
//!
//! They are read as pflag reads them (`olm-flags`), so that what manifests of OLM v0 say means the same
//! here. A flag that is not known ends the process, as there; those of v0's log library are known.

mod common;
mod klog;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

pub use common::{CommonFlags, FlagError};
pub use klog::KlogFlags;

/// A flag of OLM v0 that is accepted and does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its name, with dashes.
    pub flag: &'static str,
    /// Why nothing is lost.
    pub why: &'static str,
}

/// The flags of one operator.
pub trait Flags: Parser {
    /// Those that every operator has.
    fn common(&self) -> &CommonFlags;

    /// Those that were given and do nothing.
    fn idle(&self) -> Vec<Idle>;
}

/// What a command line says.
#[derive(Clone, Debug)]
pub struct CommandLine<A> {
    /// The flags.
    pub flags: A,
}

impl<A: Flags> CommandLine<A> {
    /// That of this process. Prints and ends it when help is asked for, or when the line makes no sense.
    pub fn of_this_process() -> Self {
        Self::read(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// Reads a line that begins with the name of the program.
    ///
    /// # Errors
    /// When a flag is not known, lacks its value, or has one that makes no sense.
    pub fn read(line: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, clap::Error> {
        let flags: A = olm_flags::read(line)?;
        let checked = flags.common().check();
        checked.map_err(|error| A::command().error(ErrorKind::ValueValidation, error))?;
        Ok(Self { flags })
    }

    /// The name of the program and its version, when only these are asked for.
    pub fn version(&self) -> Option<String> {
        self.flags.common().version.then(|| A::command().render_version())
    }

    /// Says in the log what has no effect, and why.
    pub fn warn(&self) {
        for Idle { flag, why } in self.flags.idle() {
            tracing::warn!(flag, why, "has no effect");
        }
        for word in self.flags.common().words() {
            tracing::warn!(word = %word.display(), "ignored: there are flags only");
        }
    }
}
