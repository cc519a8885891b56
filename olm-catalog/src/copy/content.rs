//! `copy-content`: copies the catalog of a catalog image, and the cache built from it.
//!
//! What is at a destination is replaced. The order is fixed: first the catalog, then the cache.
//! Unlike v0, nothing is removed before it is known that the source is there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::flags::Flags;
use super::tree::reason;
use super::tree::{Links, Rules, copy_tree, remove};

const USAGE: &str = "\
Copy catalog and cache content

Usage:
  copy-content [flags]

Flags:
      --cache.from string     Path to cache contents to copy (required if cache.to is set)
      --cache.to string       Path to where cache contents should be copied (required if cache.from is set)
      --catalog.from string   Path to catalog contents to copy
      --catalog.to string     Path to where catalog contents should be copied
  -h, --help                  help for copy-content
";

const FLAGS: [&str; 4] = ["catalog.from", "catalog.to", "cache.from", "cache.to"];

/// A catalog is as large as the volume lets it be; the depth bounds the stack.
const RULES: Rules = Rules { bytes: u64::MAX, entries: u64::MAX, depth: 128, links: Links::Keep };

/// Runs the program.
pub(super) fn main(arguments: Vec<OsString>) -> ExitCode {
    let flags = match Flags::parse(arguments, &FLAGS) {
        Ok(flags) => flags,
        Err(error) => return refuse(&error.to_string()),
    };
    if flags.help {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let pairs = match pairs(&flags) {
        Ok(pairs) => pairs,
        Err(message) => return refuse(&message),
    };
    match pairs.iter().try_for_each(|(from, to)| replace(from, to)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(message: &str) -> ExitCode {
    eprint!("Error: {message}\n{USAGE}");
    ExitCode::FAILURE
}

/// What is copied, and where to. Messages are those of v0's flag library.
fn pairs(flags: &Flags) -> Result<Vec<(&Path, &Path)>, String> {
    if let Some(operand) = flags.operands.first() {
        return Err(format!("unknown command {:?} for \"copy-content\"", operand.display()));
    }
    let [catalog_from, catalog_to, cache_from, cache_to] = FLAGS.map(|name| flags.value(name));
    let catalog = catalog_from.zip(catalog_to).ok_or_else(|| {
        let required = [("catalog.from", catalog_from), ("catalog.to", catalog_to)];
        let missing = required.iter().filter(|(_, value)| value.is_none());
        let names: Vec<String> = missing.map(|(name, _)| format!("{name:?}")).collect();
        format!("required flag(s) {} not set", names.join(", "))
    })?;
    let lonely = |missing: &str| {
        format!(
            "if any flags in the group [cache.from cache.to] are set they must all be set; \
             missing [{missing}]"
        )
    };
    match (cache_from, cache_to) {
        (None, None) => Ok(vec![catalog]),
        (Some(from), Some(to)) => Ok(vec![catalog, (from, to)]),
        (None, Some(_)) => Err(lonely("cache.from")),
        (Some(_), None) => Err(lonely("cache.to")),
    }
}

fn replace(from: &Path, to: &Path) -> Result<(), String> {
    let failed =
        |why: String| format!("failed to copy {} to {}: {why}", from.display(), to.display());
    let source = fs::canonicalize(from)
        .map_err(|error| failed(format!("{}: {}", from.display(), reason(&error))))?;
    let target = resolve(to);
    if target.starts_with(&source) || source.starts_with(&target) {
        return Err(failed("one is inside the other".to_owned()));
    }
    remove(to).map_err(|error| format!("failed to remove {}: {error}", to.display()))?;
    copy_tree(from, to, RULES).map(drop).map_err(|error| failed(error.to_string()))
}

/// Where a path leads whose end need not exist yet.
fn resolve(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => resolve(parent).join(name),
        _ => absolute,
    }
}
