//! Reads a command line and leaves out what it does not know.

use std::ffi::{OsStr, OsString};

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Idle, OF_KLOG};

/// The flags of one operator.
pub trait Flags: Parser {
    /// Those that were given and do nothing.
    fn idle(&self) -> Vec<Idle>;
}

/// What a command line says.
#[derive(Clone, Debug)]
pub struct CommandLine<A> {
    /// The flags that are known.
    pub flags: A,
    /// What was left out, as it was spelt.
    pub unknown: Vec<String>,
}

impl<A: Flags> CommandLine<A> {
    /// That of this process. Prints and ends it when that is asked for, or when the line makes no
    /// sense.
    pub fn of_this_process() -> Self {
        let mut unknown = Vec::new();
        match parse(std::env::args_os().collect(), &mut unknown) {
            Ok(flags) => Self { flags, unknown },
            Err(error) => {
                unknown.iter().for_each(|flag| eprintln!("warning: {flag} is unknown and ignored"));
                error.exit()
            }
        }
    }

    /// Reads a line that begins with the name of the program.
    ///
    /// # Errors
    /// When a known flag has a value that makes no sense, lacks one, or seems to be misspelt.
    pub fn read(line: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, clap::Error> {
        let mut unknown = Vec::new();
        let flags = parse(line.into_iter().map(Into::into).collect(), &mut unknown)?;
        Ok(Self { flags, unknown })
    }

    /// Says in the log what is ignored, and why.
    pub fn warn(&self) {
        for flag in &self.unknown {
            if OF_KLOG.contains(&flag.as_str()) {
                tracing::warn!(flag, "ignored: logs have --debug and OLM_LOG");
            } else {
                tracing::warn!(flag, "ignored: no flag of this version");
            }
        }
        for Idle { flag, why } in self.flags.idle() {
            tracing::warn!(flag, why, "has no effect");
        }
    }
}

/// Each round leaves out one word or more, so this ends.
fn parse<A: Parser>(mut line: Vec<OsString>, unknown: &mut Vec<String>) -> Result<A, clap::Error> {
    loop {
        let error = match A::try_parse_from(&line) {
            Ok(flags) => return Ok(flags),
            Err(error) => error,
        };
        let Some(word) = stranger(&error) else { return Err(error) };
        let Some(at) = line.iter().skip(1).position(|one| is_spelt(one, &word)) else {
            return Err(error);
        };
        leave_out(&mut line, at + 1);
        unknown.push(word);
    }
}

/// The word that is not known, unless it seems to be a known flag misspelt.
fn stranger(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_near = error.get(ContextKind::SuggestedArg).is_some();
    let is_klog = OF_KLOG.contains(&word.as_str());
    (error.kind() == ErrorKind::UnknownArgument && (is_klog || !is_near)).then(|| word.clone())
}

/// `--flag`, `--flag=value`, or `-f` with whatever is behind it.
fn is_spelt(given: &OsStr, word: &str) -> bool {
    let Some(rest) = given.to_string_lossy().strip_prefix(word).map(str::to_owned) else {
        return false;
    };
    let is_short = word.starts_with('-') && !word.starts_with("--");
    rest.is_empty() || rest.starts_with('=') || is_short
}

/// Leaves out a word and, behind a flag, what may be its value: no operator takes bare words.
fn leave_out(line: &mut Vec<OsString>, at: usize) {
    let flag = line.remove(at);
    let takes_value =
        flag.to_string_lossy().starts_with('-') && !flag.to_string_lossy().contains('=');
    if takes_value && line.get(at).is_some_and(|next| !next.to_string_lossy().starts_with('-')) {
        line.remove(at);
    }
}
