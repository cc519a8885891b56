//! How long things took last time, by name, for whoever waits for them: a line each in a file of the
//! user's cache. No more than a courtesy, so nothing fails when it cannot be read or written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::cache_dir;

/// How long something took last time, if that is known.
#[must_use]
pub fn last(name: &str) -> Option<Duration> {
    number(name).map(Duration::from_millis)
}

/// Remembers how long something took.
pub fn remember(name: &str, took: Duration) {
    count(name, u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
}

/// A number that was remembered, such as how many parts something had.
#[must_use]
pub fn number(name: &str) -> Option<u64> {
    file().and_then(|file| read(&file).get(name).copied())
}

/// Remembers a number.
pub fn count(name: &str, number: u64) {
    if let Some(file) = file() {
        write(&file, name, number);
    }
}

fn read(file: &Path) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(line).collect()
}

fn write(file: &Path, name: &str, number: u64) {
    let mut all = read(file);
    all.insert(name.to_owned(), number);
    let text: String = all.iter().map(|(name, number)| format!("{number}\t{name}\n")).collect();
    // Whoever reads meanwhile sees the old file or the new one; of two that write, the last one stays.
    let fresh = format!("{}.{:?}", std::process::id(), thread::current().id());
    let fresh = file.with_extension(fresh);
    let _ = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, file));
}

fn line(line: &str) -> Option<(String, u64)> {
    let (number, name) = line.split_once('\t')?;
    Some((name.to_owned(), number.parse().ok()?))
}

fn file() -> Option<PathBuf> {
    let dir = cache_dir().ok()?;
    fs::create_dir_all(&dir).ok()?;
    Some(dir.join("times"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::Scratch;

    #[test]
    fn lines_that_mean_nothing_are_passed_over() {
        assert_eq!(line("1200\ta name"), Some(("a name".to_owned(), 1200)));
        assert_eq!(line("x\ta name"), None);
        assert_eq!(line("1200"), None);
    }

    #[test]
    fn the_last_number_is_remembered() {
        let scratch = Scratch::new("times");
        let file = scratch.path().join("times");
        assert_eq!(read(&file).get("opm"), None);
        write(&file, "opm", 61_900);
        write(&file, "the control plane", 264_000);
        write(&file, "opm", 45_000);
        assert_eq!(read(&file).get("opm"), Some(&45_000));
        assert_eq!(read(&file).get("the control plane"), Some(&264_000));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
