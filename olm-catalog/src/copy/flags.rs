//! Long flags with values, as Go programs take them: `--name=value` or `--name value`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What a command line holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// Values by flag, without dashes. The last one counts.
    values: BTreeMap<&'static str, PathBuf>,
    /// Everything that is no flag.
    pub(super) operands: Vec<PathBuf>,
    /// Whether help is asked for.
    pub(super) help: bool,
}

/// A command line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum FlagError {
    /// There is no such flag.
    #[error("unknown flag: {0}")]
    Unknown(String),
    /// The value is missing.
    #[error("flag needs an argument: {0}")]
    NoValue(String),
}

impl Flags {
    /// Reads arguments; `known` are the flags without dashes.
    pub(super) fn parse(
        arguments: Vec<OsString>,
        known: &[&'static str],
    ) -> Result<Self, FlagError> {
        let mut flags = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            match text.as_str() {
                "--" => flags.operands.extend(arguments.by_ref().map(PathBuf::from)),
                "-h" | "--help" => flags.help = true,
                _ if !text.starts_with('-') || text == "-" => flags.operands.push(argument.into()),
                _ => {
                    let (flag, value) = match text.split_once('=') {
                        Some((flag, value)) => (flag, Some(value.into())),
                        None => (text.as_str(), None),
                    };
                    let name = known.iter().find(|name| flag.strip_prefix("--") == Some(name));
                    let name = name.ok_or_else(|| FlagError::Unknown(flag.to_owned()))?;
                    let value = value.or_else(|| arguments.next().map(PathBuf::from));
                    let value = value.ok_or_else(|| FlagError::NoValue(flag.to_owned()))?;
                    flags.values.insert(name, value);
                }
            }
        }
        Ok(flags)
    }

    /// The value of a flag.
    pub(super) fn value(&self, name: &str) -> Option<&Path> {
        self.values.get(name).map(PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Flags, FlagError> {
        Flags::parse(arguments.iter().map(OsString::from).collect(), &["from", "to"])
    }

    #[test]
    fn both_spellings_and_operands() {
        let flags = parse(&["--from=/a=b", "x", "--to", "/c", "--", "--from=y"]).unwrap();
        assert_eq!(flags.value("from"), Some(Path::new("/a=b")));
        assert_eq!(flags.value("to"), Some(Path::new("/c")));
        assert_eq!(flags.operands, [Path::new("x"), Path::new("--from=y")]);
        assert!(!flags.help && parse(&["-h"]).unwrap().help);
    }

    #[rstest]
    #[case("--form=/a", "unknown flag: --form")]
    #[case("-from", "unknown flag: -from")]
    #[case("--to", "flag needs an argument: --to")]
    fn mistakes(#[case] argument: &str, #[case] message: &str) {
        assert_eq!(parse(&[argument]).unwrap_err().to_string(), message);
    }
}
