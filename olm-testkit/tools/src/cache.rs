//! The part of the user's cache directory that belongs to this project, and who may fill it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::progress::Progress;
use crate::run::Reminder;

/// How often it is tried whether a lock is free.
const POLL: Duration = Duration::from_millis(100);

/// A directory of the user's cache that belongs to this project.
///
/// # Errors
/// Neither `XDG_CACHE_HOME` nor `HOME` is set.
pub fn cache_dir() -> Result<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    match named.map(PathBuf::from).or_else(home) {
        Some(dir) => Ok(dir.join("olm-rs")),
        None => bail!("there is no place for built tools: set HOME or XDG_CACHE_HOME"),
    }
}

/// The directory of all tools, which exists.
pub(crate) fn tools_dir() -> Result<PathBuf> {
    let dir = cache_dir()?.join("tools");
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}

/// A folder below `root` with a name that stands for its content. Where it is missing, `fill` fills a
/// folder beside it, which takes its place when it is complete. Whoever comes second waits.
pub(crate) fn once(
    root: &Path,
    name: &str,
    progress: &Progress,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let dir = root.join(name);
    if dir.is_dir() {
        return Ok(dir);
    }
    let lock = lock(&dir.with_extension("lock"), progress)?;
    if !dir.is_dir() {
        let partial = dir.with_extension("partial");
        // What a killed build left.
        let _ = fs::remove_dir_all(&partial);
        fs::create_dir_all(&partial).context("cannot create the build directory")?;
        fill(&partial)?;
        let moved = fs::rename(&partial, &dir);
        moved.with_context(|| format!("cannot move {} into place", dir.display()))?;
    }
    drop(lock);
    Ok(dir)
}

/// Holds a lock file until the result is dropped, or until this process ends. Says so when it has to
/// wait, and goes on saying so.
///
/// # Errors
/// The file cannot be created.
pub fn lock(path: &Path, progress: &Progress) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_ok() {
        return Ok(file);
    }
    progress.step(format!("waiting for another command that holds {}", path.display()));
    let mut reminder = Reminder::new();
    while file.try_lock().is_err() {
        std::thread::sleep(POLL);
        if let Some(seconds) = reminder.due() {
            progress.step(format!("still waiting for that command, {seconds} s so far"));
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::run::tests::Scratch;

    #[test]
    fn a_folder_is_filled_once_by_whoever_comes_first() {
        let root = Scratch::new("once");
        let fills = AtomicUsize::new(0);
        let silent = Progress::new(|_| {});
        let fill = |partial: &Path| {
            fills.fetch_add(1, Ordering::SeqCst);
            assert!(!root.join("name").exists(), "half of it is seen");
            std::thread::sleep(Duration::from_millis(50));
            fs::write(partial.join("file"), "content").context("cannot write")
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| once(root.path(), "name", &silent, fill).unwrap());
            }
        });
        assert_eq!(fills.load(Ordering::SeqCst), 1);
        assert_eq!(fs::read_to_string(root.join("name/file")).unwrap(), "content");
    }

    #[test]
    fn a_failure_leaves_nothing_that_passes_for_a_result() {
        let root = Scratch::new("failure");
        let silent = Progress::new(|_| {});
        let failed = once(root.path(), "name", &silent, |partial| {
            fs::write(partial.join("half"), "")?;
            bail!("the reason")
        });
        assert_eq!(failed.unwrap_err().to_string(), "the reason");
        let again = once(root.path(), "name", &silent, |_| Ok(())).unwrap();
        assert!(!again.join("half").exists());
    }

    #[test]
    fn whoever_waits_for_a_lock_says_so() {
        let root = Scratch::new("lock");
        let path = root.join("a.lock");
        let (sender, said) = std::sync::mpsc::channel();
        let held = lock(&path, &Progress::new(|_| {})).unwrap();
        let second = std::thread::spawn({
            let progress = Progress::new(move |line| sender.send(line.to_owned()).unwrap());
            move || lock(&path, &progress).map(drop)
        });
        assert!(said.recv().unwrap().starts_with("waiting for another command"));
        drop(held);
        second.join().unwrap().unwrap();
    }
}
