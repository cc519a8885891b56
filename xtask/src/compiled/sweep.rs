//! What goes from the cache of compiled dependencies, and when.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

/// All keys together may take so many bytes.
const MOST: u64 = 8 << 30;

/// What was not used for so long goes.
const OLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Whose time says when a folder was used last.
const MARK: &str = "used";

/// A folder of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    /// In bytes.
    size: u64,
    used: SystemTime,
}

/// Notes that a folder is used now.
pub(super) fn used(folder: &Path) -> Result<()> {
    fs::write(folder.join(MARK), "").context("cannot note that the cache was used")
}

/// Removes what is old, and what is over the limit, apart from one folder.
pub(super) fn sweep(root: &Path, current: &Path) -> Result<()> {
    let entries = fs::read_dir(root).context("cannot list the cache of dependencies")?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    let folders = paths.map(|path| Folder { size: size(&path), used: when(&path), path });
    for gone in superfluous(folders.collect(), current, SystemTime::now()) {
        fs::remove_dir_all(&gone).with_context(|| format!("cannot remove {}", gone.display()))?;
    }
    Ok(())
}

/// The folders to remove: all that are old, and the least recently used until the rest fits.
fn superfluous(mut folders: Vec<Folder>, current: &Path, now: SystemTime) -> Vec<PathBuf> {
    folders.sort_by_key(|folder| (folder.path != current, std::cmp::Reverse(folder.used)));
    let mut kept = 0;
    let mut gone = Vec::new();
    for folder in folders {
        let age = now.duration_since(folder.used).unwrap_or_default();
        let fits = age < OLD && kept + folder.size <= MOST;
        if folder.path == current || fits {
            kept += folder.size;
        } else {
            gone.push(folder.path);
        }
    }
    gone
}

fn when(folder: &Path) -> SystemTime {
    let mark = fs::metadata(folder.join(MARK)).and_then(|mark| mark.modified());
    mark.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    let sizes = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let of = entry.metadata().ok()?;
        Some(if of.is_dir() { size(&entry.path()) } else { of.len() })
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    #[test]
    fn what_is_old_or_over_the_limit_goes_and_the_current_folder_stays() {
        let now = SystemTime::UNIX_EPOCH + 100 * DAY;
        let folder = |name: &str, gigabytes: u64, days: u32| Folder {
            path: name.into(),
            size: gigabytes << 30,
            used: now - days * DAY,
        };
        let all = vec![
            folder("old", 1, 40),
            folder("older", 2, 3),
            folder("newer", 3, 1),
            folder("current", 4, 60),
        ];
        let gone = superfluous(all, Path::new("current"), now);
        assert_eq!(gone, [PathBuf::from("older"), PathBuf::from("old")]);
    }
}
