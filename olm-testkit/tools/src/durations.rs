//! How long builds took on this machine: what a waiting user wants to know the next time.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// The file, one line `NAME SECONDS` for each build.
const FILE: &str = "durations.txt";

/// How long the build of this name took the last time.
pub(crate) fn last(root: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(root.join(FILE)).unwrap_or_default();
    read(&text).find(|(found, _)| *found == name).map(|(_, seconds)| seconds)
}

/// Remembers how long a build took. That it cannot be written is no reason to fail.
pub(crate) fn remember(root: &Path, name: &str, took: Duration) {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).unwrap_or_default();
    // Another process may do the same: each writes a file of its own, and the last one stays.
    let partial = root.join(format!("{FILE}.{}", std::process::id()));
    let written = fs::write(&partial, replaced(&text, name, took.as_secs()));
    let _ = written.and_then(|()| fs::rename(&partial, &path));
}

/// What the last time was, in brackets behind something else; nothing when there was none.
pub(crate) fn words(last: Option<u64>) -> String {
    last.map_or_else(String::new, |seconds| format!(" (last time {seconds} s)"))
}

/// The lines that can be read.
fn read(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let (name, seconds) = line.split_once(' ')?;
        Some((name, seconds.parse().ok()?))
    })
}

fn replaced(text: &str, name: &str, seconds: u64) -> String {
    let others = read(text).filter(|(other, _)| *other != name);
    let mut all: Vec<_> = others.chain([(name, seconds)]).collect();
    all.sort_unstable();
    all.iter().map(|(name, seconds)| format!("{name} {seconds}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::Scratch;

    #[test]
    fn the_last_time_is_remembered() {
        let root = Scratch::new("durations");
        assert_eq!(last(root.path(), "opm"), None);
        remember(root.path(), "opm", Duration::from_millis(61_900));
        remember(root.path(), "control-plane", Duration::from_secs(264));
        remember(root.path(), "opm", Duration::from_secs(45));
        assert_eq!(last(root.path(), "opm"), Some(45));
        assert_eq!(last(root.path(), "control-plane"), Some(264));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn lines_that_nobody_can_read_are_dropped() {
        assert_eq!(replaced("opm\nhelm many\nnode 7\n\n", "opm", 5), "node 7\nopm 5\n");
    }

    #[test]
    fn a_first_time_says_nothing_of_a_last_one() {
        assert_eq!(words(None), "");
        assert_eq!(words(Some(264)), " (last time 264 s)");
    }
}
