//! How long things took last time, by name, for whoever waits for them: a line each in a file of the
//! user's cache. No more than a courtesy, so nothing fails when it cannot be read or written.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use olm_tools::cache_dir;

/// How long something took last time, if that is known.
pub fn last(name: &str) -> Option<Duration> {
    read().get(name).copied().map(Duration::from_millis)
}

/// Remembers how long something took.
pub fn remember(name: &str, took: Duration) {
    count(name, u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
}

/// A number that was remembered, such as how many parts something had.
pub fn number(name: &str) -> Option<u64> {
    read().get(name).copied()
}

/// Remembers a number.
pub fn count(name: &str, number: u64) {
    let mut all = read();
    all.insert(name.to_owned(), number);
    let text: String = all.iter().map(|(name, number)| format!("{number}\t{name}\n")).collect();
    if let Some(file) = file() {
        // Whoever reads meanwhile sees the old file or the new one.
        let fresh = file.with_extension("new");
        let _ = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &file));
    }
}

fn read() -> BTreeMap<String, u64> {
    let text = file().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    text.lines().filter_map(line).collect()
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
    use super::line;

    #[test]
    fn lines_that_mean_nothing_are_passed_over() {
        assert_eq!(line("1200\ta name"), Some(("a name".to_owned(), 1200)));
        assert_eq!(line("x\ta name"), None);
        assert_eq!(line("1200"), None);
    }
}
