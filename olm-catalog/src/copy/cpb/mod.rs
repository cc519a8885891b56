//! `cpb`: copies the bundle of the image that it runs in, for the Job that unpacks it.
//!
//! The result is `metadata/annotations.yaml` and `manifests/` below the output folder, whatever the
//! image calls them. Unlike v0, an output folder is honoured when it is the only argument, and an
//! image whose bundle leads out of its own folder is refused.

mod find;
mod place;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use thiserror::Error;

use super::flags::Flags;
use super::tree::{Copied, Links, Rules, TreeError, copy_tree, remove};
use crate::bundle::AnnotationsError;
use find::find;

const USAGE: &str = "\
Copy bundle metadata and manifests into an output directory.

Looks for metadata/annotations.yaml in the current directory, and for an annotations.yaml anywhere
below when there is none. Copies it and the folder of manifests that it names.

Usage:
  cpb [output directory]

The output directory is ./bundle unless given.
";

/// Where the bundle goes when nothing else is said.
const OUTPUT: &str = "./bundle";

/// Far more than fits into the ConfigMap that it ends in, compressed as well as can be.
const RULES: Rules = Rules { bytes: 64 << 20, entries: 10_000, depth: 16, links: Links::Inside };

/// A bundle cannot be copied.
#[derive(Debug, Error)]
pub(super) enum CpbError {
    /// There is no bundle.
    #[error(
        "found no bundle below {}: a bundle image has metadata/annotations.yaml with the \
         annotations of a bundle", .0.display()
    )]
    NoBundle(PathBuf),
    /// The annotations cannot be used.
    #[error("{}: {}", .0.display(), .1)]
    Annotations(PathBuf, #[source] AnnotationsError),
    /// The folder of manifests cannot be used.
    #[error("{}: the folder of manifests {value:?} {why}", .file.display())]
    Manifests {
        /// File with the annotations.
        file: PathBuf,
        /// What it says.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// Something cannot be copied.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// Runs the program.
pub(super) fn main(arguments: Vec<OsString>) -> ExitCode {
    let flags = match Flags::parse(arguments, &[]) {
        Ok(flags) if flags.operands.len() <= 1 => flags,
        Ok(_) => return refuse("there can be one output directory only"),
        Err(error) => return refuse(&error.to_string()),
    };
    if flags.help {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let output = flags.operands.first().map_or(Path::new(OUTPUT), PathBuf::as_path);
    match copy_bundle(Path::new("."), output) {
        Ok(copied) => {
            println!("copied {} files and folders, {} bytes", copied.entries, copied.bytes);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(message: &str) -> ExitCode {
    eprint!("Error: {message}\n{USAGE}");
    ExitCode::FAILURE
}

/// Copies the bundle below `root` into `output`. What an earlier attempt left there is replaced.
fn copy_bundle(root: &Path, output: &Path) -> Result<Copied, CpbError> {
    let found = find(root, output)?;
    println!("bundle: {} and {}", found.annotations.display(), found.manifests.display());
    let (metadata, manifests) = (output.join("metadata"), output.join("manifests"));
    remove(&metadata)?;
    remove(&manifests)?;
    copy_tree(&found.annotations, &metadata.join("annotations.yaml"), RULES)?;
    Ok(copy_tree(&found.manifests, &manifests, RULES)?)
}
