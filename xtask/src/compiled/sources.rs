//! Files of the checkout that compiled parts were made of, with their times.
//!
//! Cargo takes a part for fresh when no file that went into it is later than the part. A clone gives all its files the
//! time of the clone, so that nothing that an earlier checkout compiled would be fresh. A file whose content is the
//! recorded one gets the recorded time; every other file stays as late as it is, and what it is part of is compiled.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Where the record is, in the folder of a key.
const RECORD: &str = "sources.json";

/// Files by their paths from the root: SHA-256 of the content, and when it was written, since the beginning of Unix
/// time.
type Files = BTreeMap<String, (String, Duration)>;

/// What of a record holds for another checkout.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Restored {
    /// Where the recorded checkout was.
    pub(super) root: PathBuf,
    /// How many files are the same.
    pub(super) files: usize,
}

/// Records these files of the checkout at `root`.
///
/// # Errors
/// The record cannot be written.
pub(super) fn record(root: &Path, files: &[PathBuf], folder: &Path) -> Result<()> {
    let entry = |file: &PathBuf| {
        let path = file.strip_prefix(root).ok()?.to_str()?.to_owned();
        let since = modified(file)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some((path, (digest(file)?, since)))
    };
    let files: Files = files.iter().filter_map(entry).collect();
    let text = serde_json::to_vec(&(root, files)).context("cannot write down the sources")?;
    fs::write(folder.join(RECORD), text).context("cannot record the sources")
}

/// Gives the files of the checkout at `root` whose content is recorded the recorded times. Nothing without a record
/// that can be read.
///
/// # Errors
/// A time cannot be set.
pub(super) fn restore(root: &Path, folder: &Path) -> Result<Option<Restored>> {
    let Ok(text) = fs::read(folder.join(RECORD)) else { return Ok(None) };
    let Ok((recorded_root, files)) = serde_json::from_slice::<(PathBuf, Files)>(&text) else {
        return Ok(None);
    };
    let mut restored = Restored { root: recorded_root, files: 0 };
    for (path, (recorded, since)) in files {
        let file = root.join(&path);
        if digest(&file).is_some_and(|digest| digest == recorded) {
            let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + since);
            let opened = File::options().append(true).open(&file);
            opened
                .and_then(|file| file.set_times(times))
                .with_context(|| format!("cannot set the time of {path}"))?;
            restored.files += 1;
        }
    }
    Ok(Some(restored))
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

fn digest(file: &Path) -> Option<String> {
    let content = fs::read(file).ok()?;
    Some(Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: &Path, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let opened = File::options().append(true).open(file).unwrap();
        opened.set_times(FileTimes::new().set_modified(time)).unwrap();
    }

    #[test]
    fn only_what_is_the_same_gets_the_time_of_then() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        for (root, file, text) in [
            (&old, "same.rs", "a"),
            (&old, "changed.rs", "a"),
            (&old, "gone.rs", "a"),
            (&new, "same.rs", "a"),
            (&new, "changed.rs", "b"),
            (&new, "added.rs", "a"),
        ] {
            fs::create_dir_all(root).unwrap();
            fs::write(root.join(file), text).unwrap();
            at(&root.join(file), if *root == old { 100 } else { 200 });
        }
        assert_eq!(restore(&new, folder.path()).unwrap(), None, "nothing is recorded");
        let files = ["same.rs", "changed.rs", "gone.rs", "never.rs"].map(|file| old.join(file));
        record(&old, &files, folder.path()).unwrap();
        let restored = restore(&new, folder.path()).unwrap();
        assert_eq!(restored, Some(Restored { root: old, files: 1 }));
        let times = ["same.rs", "changed.rs", "added.rs"].map(|file| {
            let time = modified(&new.join(file)).unwrap();
            time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
        });
        assert_eq!(times, [100, 200, 200]);
    }
}
