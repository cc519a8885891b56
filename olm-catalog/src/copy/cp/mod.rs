//! `cp`, as far as Jobs and Pods of OLM use it; options and messages are those of coreutils.
//!
//! Left out is what needs more than files, folders and links: devices and pipes are refused. With
//! `-R`, links on the command line are followed and those below are copied as links. POSIX leaves
//! that open, and so an image may hold its programs as links.

mod arguments;
mod copy;

use std::ffi::OsString;
use std::process::ExitCode;

use arguments::{Arguments, Request};

const USAGE: &str = "\
Usage: cp [OPTION]... SOURCE DEST
  or:  cp [OPTION]... SOURCE... DIRECTORY
Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.

  -a, --archive                same as -dR -p
  -d                           same as -P
  -f, --force                  if an existing destination file cannot be opened,
                                 remove it and try again
  -H                           follow command-line symbolic links in SOURCE
  -L, --dereference            always follow symbolic links in SOURCE
  -P, --no-dereference         never follow symbolic links in SOURCE
  -p, --preserve               preserve mode, ownership and timestamps
  -R, -r, --recursive          copy directories recursively
  -T, --no-target-directory    treat DEST as a normal file
  -v, --verbose                explain what is being done
      --help                   display this help and exit
      --version                output version information and exit
";

/// Runs the program.
pub(super) fn main(arguments: Vec<OsString>) -> ExitCode {
    match Arguments::parse(arguments) {
        Ok(Request::Help) => print!("{USAGE}"),
        Ok(Request::Version) => println!("cp (olm-copy) {}", env!("CARGO_PKG_VERSION")),
        Ok(Request::Copy(arguments)) => {
            if !copy::run(&arguments) {
                return ExitCode::FAILURE;
            }
        }
        Err(error) => {
            eprintln!("cp: {error}\nTry 'cp --help' for more information.");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
