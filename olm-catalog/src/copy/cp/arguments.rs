//! The command line of `cp`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use thiserror::Error;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// An explanation.
    Help,
    /// The version.
    Version,
    /// Copies.
    Copy(Arguments),
}

/// What is copied where, and how.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    /// What is copied; at least one.
    pub(super) sources: Vec<PathBuf>,
    /// A name, or a folder to copy into.
    pub(super) target: PathBuf,
    /// How.
    pub(super) options: Options,
}

/// How to copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Folders, too.
    pub(super) recursive: bool,
    /// Print what is copied.
    pub(super) verbose: bool,
    /// Keep mode, owner and times.
    pub(super) preserve: bool,
    /// Remove what cannot be written to.
    pub(super) force: bool,
    /// The target is a name even when a folder has it.
    pub(super) no_target_folder: bool,
    links: Option<Links>,
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    None,
    CommandLine,
    All,
}

/// A command line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ArgumentError {
    #[error("invalid option -- '{0}'")]
    Short(char),
    #[error("unrecognized option '{0}'")]
    Long(String),
    #[error("missing file operand")]
    NoSource,
    #[error("missing destination file operand after '{0}'")]
    NoTarget(String),
    #[error("extra operand '{0}'")]
    Extra(String),
}

impl Arguments {
    /// Reads arguments. Options may stand anywhere before `--`.
    pub(super) fn parse(arguments: Vec<OsString>) -> Result<Request, ArgumentError> {
        let mut options = Options::default();
        let mut operands: Vec<PathBuf> = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--") => operands.extend(arguments.by_ref().map(PathBuf::from)),
                Some("--help") => return Ok(Request::Help),
                Some("--version") => return Ok(Request::Version),
                Some(long) if long.starts_with("--") => options.long(long)?,
                _ if is_cluster(&argument) => {
                    argument
                        .to_string_lossy()
                        .chars()
                        .skip(1)
                        .try_for_each(|c| options.short(c))?;
                }
                _ => operands.push(argument.into()),
            }
        }
        Self::of(operands, options).map(Request::Copy)
    }

    fn of(mut operands: Vec<PathBuf>, options: Options) -> Result<Self, ArgumentError> {
        let target = operands.pop().ok_or(ArgumentError::NoSource)?;
        if operands.is_empty() {
            return Err(ArgumentError::NoTarget(target.display().to_string()));
        }
        match operands.get(1) {
            Some(_) if options.no_target_folder => {
                Err(ArgumentError::Extra(target.display().to_string()))
            }
            _ => Ok(Self { sources: operands, target, options }),
        }
    }
}

impl Options {
    /// Whether a link is followed; `named` if it stands on the command line.
    pub(super) fn follows(&self, named: bool) -> bool {
        let default = if self.recursive { Links::CommandLine } else { Links::All };
        match self.links.unwrap_or(default) {
            Links::None => false,
            Links::CommandLine => named,
            Links::All => true,
        }
    }

    fn short(&mut self, option: char) -> Result<(), ArgumentError> {
        match option {
            'a' => {
                self.recursive = true;
                self.preserve = true;
                self.links = Some(Links::None);
            }
            'd' | 'P' => self.links = Some(Links::None),
            'f' => self.force = true,
            'H' => self.links = Some(Links::CommandLine),
            'L' => self.links = Some(Links::All),
            'p' => self.preserve = true,
            'R' | 'r' => self.recursive = true,
            'T' => self.no_target_folder = true,
            'v' => self.verbose = true,
            other => return Err(ArgumentError::Short(other)),
        }
        Ok(())
    }

    fn long(&mut self, option: &str) -> Result<(), ArgumentError> {
        let short = match option {
            "--archive" => 'a',
            "--dereference" => 'L',
            "--force" => 'f',
            "--no-dereference" => 'P',
            "--no-target-directory" => 'T',
            "--preserve" => 'p',
            "--recursive" => 'r',
            "--verbose" => 'v',
            other => return Err(ArgumentError::Long(other.to_owned())),
        };
        self.short(short)
    }
}

/// Whether an argument is a `-` with letters.
fn is_cluster(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.len() > 1 && bytes.starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(line: &str) -> Result<Request, ArgumentError> {
        Arguments::parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[rstest]
    #[case("-Rv /bin/cpb /util/cpb", 1, "/util/cpb")]
    #[case("/bin/cpb /util/cpb -Rv", 1, "/util/cpb")]
    #[case("--recursive -v a b c", 2, "c")]
    #[case("-Rv -- -a b", 1, "b")]
    fn copies(#[case] line: &str, #[case] sources: usize, #[case] target: &str) {
        let Ok(Request::Copy(arguments)) = parse(line) else { panic!("{line}") };
        assert_eq!(arguments.sources.len(), sources);
        assert_eq!(arguments.target, PathBuf::from(target));
        assert!(arguments.options.recursive && arguments.options.verbose);
    }

    #[rstest]
    #[case("", "missing file operand")]
    #[case("-R a", "missing destination file operand after 'a'")]
    #[case("-Rz a b", "invalid option -- 'z'")]
    #[case("--zz a b", "unrecognized option '--zz'")]
    #[case("-T a b c", "extra operand 'c'")]
    fn mistakes(#[case] line: &str, #[case] message: &str) {
        assert_eq!(parse(line).unwrap_err().to_string(), message);
    }

    #[rstest]
    #[case("a b", true, true)]
    #[case("-R a b", true, false)]
    #[case("-a a b", false, false)]
    #[case("-RL a b", true, true)]
    #[case("-P a b", false, false)]
    fn links(#[case] line: &str, #[case] named: bool, #[case] below: bool) {
        let Ok(Request::Copy(arguments)) = parse(line) else { panic!("{line}") };
        assert_eq!(
            (arguments.options.follows(true), arguments.options.follows(false)),
            (named, below)
        );
    }
}
