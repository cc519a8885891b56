//! `cp`, as OLM's Pods call it: `cp -Rv SOURCE DEST` in the Job that unpacks a bundle, and
//! `cp SOURCE DEST` in the Pod of a catalog.
//!
//! SOURCE is one program in both of them, in an image that may hold it as a link. Messages are those of
//! coreutils; whatever else its `cp` can do is refused.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::tree::reason;

/// The part of a mode that is about rights.
const RIGHTS: u32 = 0o777;

const USAGE: &str = "\
Usage: cp [OPTION] SOURCE DEST
Copy the file SOURCE to DEST, or into the directory DEST.

  -Rv       explain what is being done
      --help  display this help and exit
";

/// Runs the program.
pub(super) fn main(arguments: Vec<OsString>) -> ExitCode {
    let done = match Call::parse(arguments) {
        Ok(Call::Help) => {
            print!("{USAGE}");
            Ok(())
        }
        Ok(Call::Copy { source, target, verbose }) => copy(&source, target, verbose),
        Err(mistake) => Err(format!("{mistake}\nTry 'cp --help' for more information.")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("cp: {message}");
            ExitCode::FAILURE
        }
    }
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    Help,
    Copy { source: PathBuf, target: PathBuf, verbose: bool },
}

impl Call {
    /// Reads arguments, or says what is wrong with them. Options may stand anywhere.
    fn parse(arguments: Vec<OsString>) -> Result<Self, String> {
        let (mut operands, mut verbose) = (Vec::new(), false);
        for argument in arguments {
            match argument.to_str() {
                Some("--help") => return Ok(Self::Help),
                Some("-Rv") => verbose = true,
                Some(option) if option.len() > 1 && option.starts_with('-') => {
                    return Err(format!("unrecognized option '{option}'"));
                }
                _ => operands.push(PathBuf::from(argument)),
            }
        }
        let mut operands = operands.into_iter();
        let source = operands.next().ok_or("missing file operand")?;
        let target = operands.next().ok_or_else(|| {
            format!("missing destination file operand after '{}'", source.display())
        })?;
        match operands.next() {
            Some(extra) => Err(format!("extra operand '{}'", extra.display())),
            None => Ok(Self::Copy { source, target, verbose }),
        }
    }
}

/// Copies a file, and follows links to it; the error is what is printed after `cp: `.
fn copy(from: &Path, to: PathBuf, verbose: bool) -> Result<(), String> {
    let found = fs::metadata(from)
        .map_err(|error| format!("cannot stat '{}': {}", from.display(), reason(&error)))?;
    if !found.is_file() {
        return Err(format!("cannot copy '{}': it is not a regular file", from.display()));
    }
    let name = from.file_name().filter(|_| to.is_dir());
    let to = name.map_or(to.clone(), |name| to.join(name));
    match fs::metadata(&to) {
        Ok(target) if (target.dev(), target.ino()) == (found.dev(), found.ino()) => {
            let (from, to) = (from.display(), to.display());
            return Err(format!("'{from}' and '{to}' are the same file"));
        }
        Err(_) if to.is_symlink() => {
            return Err(format!("not writing through dangling symlink '{}'", to.display()));
        }
        _ => {}
    }
    let mut source = File::open(from).map_err(|error| {
        format!("cannot open '{}' for reading: {}", from.display(), reason(&error))
    })?;
    // A new file gets the rights of the source as far as the umask lets.
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(found.mode() & RIGHTS);
    let mut target = options.open(&to).map_err(|error| {
        format!("cannot create regular file '{}': {}", to.display(), reason(&error))
    })?;
    if verbose {
        println!("'{}' -> '{}'", from.display(), to.display());
    }
    io::copy(&mut source, &mut target).map(drop).map_err(|error| {
        let (from, to) = (from.display(), to.display());
        format!("error copying '{from}' to '{to}': {}", reason(&error))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(line: &str) -> Result<Call, String> {
        Call::parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[rstest]
    #[case("-Rv /bin/cpb /util/cpb", true)]
    #[case("/bin/cpb /util/cpb -Rv", true)]
    #[case("/bin/cpb /util/cpb", false)]
    fn copies(#[case] line: &str, #[case] verbose: bool) {
        let (source, target) = (PathBuf::from("/bin/cpb"), PathBuf::from("/util/cpb"));
        assert_eq!(parse(line), Ok(Call::Copy { source, target, verbose }));
    }

    #[rstest]
    #[case("", "missing file operand")]
    #[case("-Rv a", "missing destination file operand after 'a'")]
    #[case("-R a b", "unrecognized option '-R'")]
    #[case("--zz a b", "unrecognized option '--zz'")]
    #[case("a b c", "extra operand 'c'")]
    fn mistakes(#[case] line: &str, #[case] message: &str) {
        assert_eq!(parse(line).unwrap_err(), message);
    }
}
