//! Files that `.indexignore` files leave out, with the patterns of gitignore.
//!
//! Patterns count for files alone, below the folder of their file; the last one that fits decides.
//!
//! Not the crate `ignore`: it brings a walker of folders and engines for regular expressions, and compiles
//! into them what strangers write; here a pattern is compared with a path part by part.

use std::path::{Component, Path};

/// Name of the files with patterns.
pub(super) const IGNORE_FILE: &str = ".indexignore";

/// Stands for any number of folders.
const ANY_FOLDERS: &str = "**";

/// The patterns of a catalog, in the order of their files.
#[derive(Debug, Default)]
pub(super) struct IgnoreRules {
    patterns: Vec<Pattern>,
}

/// One line of a file.
#[derive(Debug)]
struct Pattern {
    /// Folder of the file, from the root of the catalog.
    folder: Vec<String>,
    /// Parts between slashes; a single one that is not anchored fits at any depth.
    parts: Vec<String>,
    anchored: bool,
    /// The last part is a folder.
    folders_only: bool,
    /// What fits is kept after all.
    keeps: bool,
}

impl IgnoreRules {
    /// Adds the patterns of a file in `folder`, a path from the root of the catalog.
    pub(super) fn add(&mut self, folder: &Path, text: &str) {
        let folder = parts(folder);
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        self.patterns.extend(lines.map(|line| Pattern::parse(line, folder.clone())));
    }

    /// Whether a file is left out.
    pub(super) fn ignores(&self, file: &Path) -> bool {
        let path = parts(file);
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let decides = self.patterns.iter().rev().find(|pattern| pattern.fits(&path));
        decides.is_some_and(|pattern| !pattern.keeps)
    }
}

fn parts(path: &Path) -> Vec<String> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    named.collect()
}

impl Pattern {
    fn parse(line: &str, folder: Vec<String>) -> Self {
        let (line, keeps) = line.strip_prefix('!').map_or((line, false), |rest| (rest, true));
        let (line, folders_only) =
            line.strip_suffix('/').map_or((line, false), |rest| (rest, true));
        let anchored = line.contains('/');
        let parts = line.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Self { folder, parts, anchored, folders_only, keeps }
    }

    fn fits(&self, path: &[&str]) -> bool {
        let Some((folder, below)) = path.split_at_checked(self.folder.len()) else {
            return false;
        };
        if below.is_empty() || folder.iter().ne(self.folder.iter()) {
            return false;
        }
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        if self.anchored {
            return self.fits_from(&parts, below);
        }
        let folders = below.len().saturating_sub(usize::from(self.folders_only));
        parts.first().is_some_and(|name| below.iter().take(folders).any(|part| glob(name, part)))
    }

    /// Whether the parts fit the beginning of the path: a folder that fits takes all below it.
    fn fits_from(&self, parts: &[&str], path: &[&str]) -> bool {
        match parts.split_first() {
            None => !(self.folders_only && path.is_empty()),
            Some((&ANY_FOLDERS, [])) => !path.is_empty(),
            Some((&ANY_FOLDERS, rest)) => (0..=path.len())
                .any(|skipped| path.get(skipped..).is_some_and(|path| self.fits_from(rest, path))),
            Some((part, rest)) => path
                .split_first()
                .is_some_and(|(first, below)| glob(part, first) && self.fits_from(rest, below)),
        }
    }
}

/// Whether a name fits a pattern with `*`, `?`, `[a-z]`, `[^a-z]` and `\`. Takes time in
/// proportion to the product of both lengths at most.
fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(next) = name.get(n).and_then(|letter| one(&pattern, p, *letter)) {
            p = next;
            n += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, n) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern.iter().skip(p).all(|rest| *rest == '*')
}

/// The place behind the element at `p`, when that fits the letter.
fn one(pattern: &[char], p: usize, letter: char) -> Option<usize> {
    match pattern.get(p)? {
        '?' => Some(p + 1),
        '[' => class(pattern, p + 1, letter),
        '\\' => (*pattern.get(p + 1)? == letter).then_some(p + 2),
        plain => (*plain == letter).then_some(p + 1),
    }
}

/// The place behind a class whose content begins at `p`; a class without end fits nothing.
fn class(pattern: &[char], mut p: usize, letter: char) -> Option<usize> {
    let negated = matches!(pattern.get(p)?, '^' | '!');
    p += usize::from(negated);
    let (start, mut fits) = (p, false);
    loop {
        match pattern.get(p)? {
            ']' if p > start => return (fits != negated).then_some(p + 1),
            low => {
                let range = pattern.get(p + 1) == Some(&'-') && pattern.get(p + 2) != Some(&']');
                let high = if range { pattern.get(p + 2)? } else { low };
                fits |= (*low..=*high).contains(&letter);
                p += if range { 3 } else { 1 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::name_at_any_depth("a", "x/y/a", true)]
    #[case::folder_takes_what_is_below("a", "x/a/y", true)]
    #[case::anchored("/a", "x/a", false)]
    #[case::anchored_folder("/a", "a/b/c", true)]
    #[case::a_slash_anchors("x/a", "y/x/a", false)]
    #[case::folder_alone("a/", "x/a", false)]
    #[case::in_the_folder("a/", "x/a/y", true)]
    #[case::any_folders("/a/**/z", "a/b/c/z", true)]
    #[case::no_folders("/a/**/z", "a/z", true)]
    #[case::all_below("a/**", "a/b/c", true)]
    #[case::leading("**/z", "a/b/z", true)]
    #[case::star("*.md", "a/README.md", true)]
    #[case::stars("*a*b*", "xxaxxbxx", true)]
    #[case::one_letter("?", "ab", false)]
    #[case::class("[a-c]x", "bx", true)]
    #[case::negated_class("[^a-c]x", "bx", false)]
    #[case::escaped("\\*", "*", true)]
    #[case::broken_class("[a", "a", false)]
    #[case::comment("# a", "a", false)]
    #[case::kept_after_all("*\n!keep", "x/keep", false)]
    #[case::the_last_decides("!keep\n*", "keep", true)]
    fn patterns(#[case] text: &str, #[case] file: &str, #[case] ignored: bool) {
        let mut rules = IgnoreRules::default();
        rules.add(Path::new(""), text);
        assert_eq!(rules.ignores(Path::new(file)), ignored, "{text} {file}");
    }

    #[test]
    fn patterns_count_below_their_folder() {
        let mut rules = IgnoreRules::default();
        rules.add(Path::new(""), "a");
        rules.add(Path::new("dir"), "b\n/c\n!a");
        let ignored = |file: &str| rules.ignores(Path::new(file));
        assert!(ignored("a") && ignored("dir/b") && ignored("dir/c"));
        assert!(!ignored("b") && !ignored("c") && !ignored("dir/a") && !ignored("dir/x/c"));
    }

    #[test]
    fn many_stars_take_little_time() {
        assert!(!glob(&"*a".repeat(200), &"a".repeat(150)));
    }
}
