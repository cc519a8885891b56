//! Parts of cargo's target folder: a package compiled in one way, its build script, or what that made.
//!
//! Each has a name, `PACKAGE-HASH`, and files in three folders: `.fingerprint/NAME` with what cargo
//! judges by, `deps/*-HASH*`, and `build/NAME`.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::workspace::root;

pub(super) const FINGERPRINTS: &str = ".fingerprint";
pub(super) const DEPS: &str = "deps";
const BUILD: &str = "build";

/// The names of the packages of the lock file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Packages {
    /// Those that come from a registry.
    pub(super) registry: BTreeSet<String>,
    /// The members of the workspace.
    pub(super) own: BTreeSet<String>,
}

/// The packages of this workspace.
pub(super) fn packages() -> Result<Packages> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    Ok(parse(&lock))
}

fn parse(lock: &str) -> Packages {
    let mut packages = Packages::default();
    for package in lock.split("[[package]]").skip(1) {
        let mut lines = package.lines();
        let name = lines.find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let is_foreign = package.contains("\nsource = ");
        let of = if is_foreign { &mut packages.registry } else { &mut packages.own };
        of.extend(name.map(str::to_owned));
    }
    packages
}

/// The names of the parts that a folder holds of some packages.
pub(super) fn units(folder: &Path, packages: &BTreeSet<String>) -> BTreeSet<String> {
    let is_of = |name: &String| {
        name.rsplit_once('-').is_some_and(|(package, _)| packages.contains(package))
    };
    names(&folder.join(FINGERPRINTS)).filter(is_of).collect()
}

/// Those of some parts that `from` holds and `to` lacks, or has compiled later. Cargo compiles what
/// depends on a later part anew, so a part that this program needed and compiled for itself a moment
/// ago would cost all that was compiled with the earlier one.
pub(super) fn units_to_copy(
    from: &Path,
    to: &Path,
    packages: &BTreeSet<String>,
) -> BTreeSet<String> {
    let is_later = |unit: &String| match (compiled(from, unit), compiled(to, unit)) {
        (Some(kept), Some(there)) => kept < there,
        (kept, None) => kept.is_some(),
        (None, Some(_)) => false,
    };
    units(from, packages).into_iter().filter(is_later).collect()
}

/// Those of some parts that `to` lacks, or that were compiled at another time than there.
pub(super) fn units_that_differ(
    from: &Path,
    to: &Path,
    units: &BTreeSet<String>,
) -> BTreeSet<String> {
    let differs = |unit: &&String| compiled(from, unit) != compiled(to, unit);
    units.iter().filter(differs).cloned().collect()
}

/// When a part was compiled: the time of the last of what cargo wrote of it.
pub(super) fn compiled(folder: &Path, unit: &str) -> Option<SystemTime> {
    let folder = folder.join(FINGERPRINTS).join(unit);
    let time = |name: String| fs::metadata(folder.join(name)).ok()?.modified().ok();
    names(&folder).filter_map(time).max()
}

/// The hash in the name of a part.
pub(super) fn hash(name: &str) -> &str {
    name.rsplit_once('-').map_or("", |(_, hash)| hash)
}

/// Copies parts with the times of their files, by which cargo judges, too. What cargo looks at first
/// comes last: a part that is there is there as a whole.
pub(super) fn copy(from: &Path, to: &Path, units: &BTreeSet<String>) -> Result<()> {
    let hashes: BTreeSet<&str> = units.iter().map(|unit| hash(unit)).collect();
    let of_them = |name: &String| hashes.contains(hash(stem(name)));
    for name in names(&from.join(DEPS)).filter(of_them) {
        copy_tree(&from.join(DEPS).join(&name), &to.join(DEPS).join(&name))?;
    }
    for folder in [BUILD, FINGERPRINTS] {
        for unit in units {
            let source = from.join(folder).join(unit);
            if source.is_dir() {
                copy_tree(&source, &to.join(folder).join(unit))?;
            }
        }
    }
    Ok(())
}

/// A file name without what follows the hash.
pub(super) fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

pub(super) fn names(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut pending: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = pending.pop() {
        if from.is_dir() {
            fs::create_dir_all(&to).with_context(|| format!("cannot create {}", to.display()))?;
            let inside = names(&from).map(|name| (from.join(&name), to.join(&name)));
            pending.extend(inside);
        } else {
            copy_file(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    // A program that runs, this one among them, keeps the file that it was started from.
    let copied = to.with_extension("copied");
    fs::copy(from, &copied)?;
    let modified = fs::metadata(from)?.modified()?;
    let times = FileTimes::new().set_modified(modified);
    File::options().write(true).open(&copied)?.set_times(times)?;
    fs::rename(copied, to)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n\n[[package]]\nname = \"olm-kit\"\nversion = \"0.1.0\"\n";

    fn write(folder: &Path, path: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "content").unwrap();
    }

    #[test]
    fn only_parts_of_foreign_packages_are_copied_with_their_times() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for path in [
            ".fingerprint/serde-01/lib-serde",
            ".fingerprint/olm-kit-02/lib-olm_kit",
            "deps/libserde-01.rlib",
            "deps/serde-01.d",
            "deps/libolm_kit-02.rlib",
            "build/serde-01/out/x.rs",
        ] {
            write(&from, path);
        }
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let rlib = File::options().write(true).open(from.join("deps/libserde-01.rlib")).unwrap();
        rlib.set_times(FileTimes::new().set_modified(old)).unwrap();

        let found = units(&from, &parse(LOCK).registry);
        assert_eq!(found, BTreeSet::from(["serde-01".to_owned()]));
        copy(&from, &to, &found).unwrap();
        for path in
            [".fingerprint/serde-01/lib-serde", "deps/serde-01.d", "build/serde-01/out/x.rs"]
        {
            assert!(to.join(path).is_file(), "{path}");
        }
        assert!(!to.join("deps/libolm_kit-02.rlib").exists());
        let copied = fs::metadata(to.join("deps/libserde-01.rlib")).unwrap();
        assert_eq!(copied.modified().unwrap(), old);
    }

    #[test]
    fn what_was_compiled_a_moment_ago_gives_way_to_what_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let fingerprint = ".fingerprint/serde-01/lib-serde";
        let at = |folder: &Path, seconds: u64| {
            write(folder, fingerprint);
            let file = File::options().write(true).open(folder.join(fingerprint)).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            file.set_times(FileTimes::new().set_modified(time)).unwrap();
        };
        let brought = || !units_to_copy(&from, &to, &parse(LOCK).registry).is_empty();
        at(&from, 100);
        assert!(brought(), "it is lacking");
        at(&to, 200);
        assert!(brought(), "what depends on it was compiled with the one at 100");
        at(&to, 100);
        assert!(!brought(), "it is the same");
        at(&to, 50);
        assert!(!brought(), "nothing becomes stale by an earlier one");
    }
}
