//! The small programs that OLM's Jobs and Pods run inside images of strangers.
//!
//! | name | runs in | what it does |
//! |---|---|---|
//! | `cp` | our image | puts another program into a volume |
//! | `cpb` | a bundle image | copies the bundle into a volume (spec catalog-operator 5) |
//! | `copy-content` | a catalog image | copies catalog and cache into a volume (spec catalog-operator 1.4) |
//!
//! They are one binary, `olm-copy`, that goes by the name it is called by, and need nothing of the
//! image that they run in: no shell, no library, no file. What a bundle image holds is untrusted;
//! `cpb` refuses links and paths that lead elsewhere, special files, and too much of anything.

mod content;
mod cp;
mod cpb;
mod flags;
mod tree;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Copies files and folders.
    Cp,
    /// Copies the bundle of a bundle image.
    Cpb,
    /// Copies a catalog and its cache.
    CopyContent,
}

const USAGE: &str = "\
Usage: olm-copy PROGRAM [ARGUMENT]...

Copies files inside images that hold nothing else. A link or copy of this binary that has the
name of a program is that program.

Programs:
  cp            copy files and folders
  cpb           copy the bundle of a bundle image
  copy-content  copy a catalog and its cache
";

/// Runs the program that the first argument names: its own name when that is one of a program,
/// and the word after it otherwise.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let called = arguments.next().unwrap_or_default();
    if let Some(program) = Program::of_path(Path::new(&called)) {
        return program.run(arguments.collect());
    }
    let first = arguments.next().unwrap_or_default();
    match first.to_str() {
        Some("--help" | "-h" | "help") => print!("{USAGE}"),
        Some("--version" | "-V" | "version") => println!("olm-copy {}", env!("CARGO_PKG_VERSION")),
        _ => {
            return match Program::named(&first) {
                Some(program) => program.run(arguments.collect()),
                None => unknown(&first),
            };
        }
    }
    ExitCode::SUCCESS
}

impl Program {
    const ALL: [Self; 3] = [Self::Cp, Self::Cpb, Self::CopyContent];

    /// The program with this name.
    pub fn named(name: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|program| name == program.name())
    }

    /// The name under which an image holds it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cp => "cp",
            Self::Cpb => "cpb",
            Self::CopyContent => "copy-content",
        }
    }

    fn of_path(path: &Path) -> Option<Self> {
        path.file_name().and_then(Self::named)
    }

    fn run(self, arguments: Vec<OsString>) -> ExitCode {
        match self {
            Self::Cp => cp::main(arguments),
            Self::Cpb => cpb::main(arguments),
            Self::CopyContent => content::main(arguments),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

fn unknown(name: &OsStr) -> ExitCode {
    if name.is_empty() {
        eprint!("{USAGE}");
    } else {
        let known = Program::ALL.map(Program::name).join(", ");
        eprintln!("Error: unknown program {:?}: it must be one of {known}", name.display());
    }
    ExitCode::FAILURE
}
