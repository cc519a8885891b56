//! Licences of everything that is linked, against the list in `deny.toml`.
//!
//! `cargo deny check` does the same and more; this works without installing it.

use anyhow::{Context, Result};

use super::Workspace;

/// Packages under a licence that is not on the list.
pub(super) fn unlisted(workspace: &Workspace) -> Result<Vec<String>> {
    let deny = workspace.files.iter().find(|file| file.path == "deny.toml");
    let deny = &deny.context("deny.toml is missing")?.text;
    let (everywhere, exceptions) = (allowed(deny), exceptions(deny));
    let mut found = Vec::new();
    for package in workspace.packages.values() {
        let own = exceptions.iter().filter(|(name, _)| *name == package.name);
        let own = own.flat_map(|(_, licences)| licences.iter().copied());
        let allowed: Vec<&str> = everywhere.iter().copied().chain(own).collect();
        match &package.license {
            Some(expression) if accepts(expression, &allowed) => {}
            Some(expression) => found.push(format!("{}: {expression}", package.name)),
            None => found.push(format!("{} names no licence", package.name)),
        }
    }
    Ok(found)
}

/// The quoted names between `allow = [` and `]`.
fn allowed(deny: &str) -> Vec<&str> {
    let list = deny.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']'));
    let quoted = list.map_or("", |(list, _)| list).split('"');
    quoted.skip(1).step_by(2).collect()
}

/// Crates that `exceptions` names, one a line, each with what else it may be under.
fn exceptions(deny: &str) -> Vec<(&str, Vec<&str>)> {
    let list = deny.split_once("exceptions = [").map_or("", |(_, rest)| rest);
    let lines = list.lines().take_while(|line| *line != "]");
    let named = lines.filter_map(|line| {
        let (_, name) = line.split_once("crate = \"")?;
        Some((name.split('"').next()?, allowed(line)))
    });
    named.collect()
}

/// Whether some choice that an SPDX expression offers consists of listed licences.
fn accepts(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, allowed };
    parser.alternatives() && parser.words.is_empty()
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl Parser<'_> {
    fn alternatives(&mut self) -> bool {
        let mut any = self.conjunction();
        while self.take("OR") {
            any |= self.conjunction();
        }
        any
    }

    fn conjunction(&mut self) -> bool {
        let mut all = self.licence();
        while self.take("AND") {
            all &= self.licence();
        }
        all
    }

    fn licence(&mut self) -> bool {
        if self.take("(") {
            let inner = self.alternatives();
            return self.take(")") && inner;
        }
        let Some((name, rest)) = self.words.split_first() else { return false };
        self.words = rest;
        match self.words {
            ["WITH", exception, rest @ ..] => {
                self.words = rest;
                self.allowed.contains(&format!("{name} WITH {exception}").as_str())
            }
            _ => self.allowed.contains(name),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words {
            [first, rest @ ..] if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read() {
        let allowed = allowed("[licenses]\nallow = [\n  \"MIT\",\n  \"Apache-2.0\",\n]\n");
        let accepts = |expression| accepts(expression, &allowed);
        assert!(accepts("MIT"));
        assert!(accepts("GPL-3.0 OR MIT"));
        assert!(accepts("MIT/Unlicense"));
        assert!(accepts("(GPL-3.0 OR MIT) AND Apache-2.0"));
        assert!(!accepts("MIT AND GPL-3.0"));
        assert!(!accepts("Apache-2.0 WITH LLVM-exception"));
        assert!(!accepts("(MIT"));
        assert!(!accepts(""));
    }

    #[test]
    fn an_exception_is_for_one_crate() {
        let deny = "allow = [\n  \"MIT\",\n]\nexceptions = [\n  # Why.\n  \
                    { allow = [\"MPL-2.0\"], crate = \"driver\" },\n]\n[bans]\n";
        assert_eq!(allowed(deny), ["MIT"]);
        assert_eq!(exceptions(deny), [("driver", vec!["MPL-2.0"])]);
        assert!(exceptions("allow = [\"MIT\"]\n").is_empty());
    }
}
