//! Every row of docs/differences.md names tests that exist.
//!
//! The last cell of a row is a list of references, in words that a program can follow:
//!
//! * a crate, then files or folders of it, its `src/` or its `tests/`, each followed by the tests in it
//!   that assert the row: ``olm-kit `queue/tests.rs` the_earliest_delay_wins``;
//! * `scenario`, then names of scenarios, or a group and the scenarios in it: ``scenario `idle` no_writes``;
//! * a command that shows the row: `` `cargo xtask crash webhook-install` ``.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::{Workspace, scenarios};
use crate::commands;
use crate::workspace::{Package, SourceFile};

/// The document.
const DOCUMENT: &str = "docs/differences.md";

/// What makes a function a test.
const MARKS: [&str; 3] = ["#[test]", "#[rstest", "#[tokio::test"];

/// Rows without a test, and names of tests, files, scenarios and commands that do not exist.
pub(super) fn without_test(workspace: &Workspace) -> Result<Vec<String>> {
    let document = workspace.files.iter().find(|file| file.path == DOCUMENT);
    let text = &document.with_context(|| format!("there is no {DOCUMENT}"))?.text;
    let known = Known { workspace, scenarios: scenarios::names(workspace) };
    let rows =
        (1..).zip(text.lines()).filter_map(|(number, line)| Some((number, last_cell(line)?)));
    let problems = rows.flat_map(|(number, cell)| {
        let place = move |problem: String| format!("{DOCUMENT}:{number}: {problem}");
        Row::read(&known, cell).into_iter().map(place)
    });
    Ok(problems.collect())
}

/// The last cell of a row of a table, but for its head.
fn last_cell(line: &str) -> Option<&str> {
    let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let (_, last) = cells.rsplit_once(" | ")?;
    (last != "asserted by").then_some(last)
}

/// What a row can refer to.
struct Known<'a> {
    workspace: &'a Workspace,
    scenarios: BTreeSet<String>,
}

/// What the words of a cell have been about so far.
enum About<'a> {
    Nothing,
    Crate(&'a Package),
    /// Files of a crate, and the tests in them.
    Place(&'a Package, BTreeSet<String>),
    Scenarios,
    /// A group of scenarios.
    Group(String),
}

struct Row<'a> {
    known: &'a Known<'a>,
    about: About<'a>,
    /// A place or a group of which no test was named yet.
    pending: Option<String>,
    /// How many tests, scenarios and commands were named.
    named: usize,
    problems: Vec<String>,
}

impl<'a> Row<'a> {
    /// What is wrong with a cell.
    fn read(known: &'a Known<'a>, cell: &str) -> Vec<String> {
        let mut row =
            Self { known, about: About::Nothing, pending: None, named: 0, problems: Vec::new() };
        for (position, part) in cell.split('`').enumerate() {
            if position % 2 == 1 {
                row.quoted(part);
            } else {
                let words = part.split([' ', ',', ';', ':']).filter(|word| !word.is_empty());
                words.for_each(|word| row.word(word));
            }
        }
        row.close_place();
        if row.named == 0 && row.problems.is_empty() {
            row.problems.push("names no test".to_owned());
        }
        row.problems
    }

    /// A word outside of backquotes: what the next names are about, or a test.
    fn word(&mut self, word: &str) {
        if word == "scenario" || word == "scenarios" {
            self.close_place();
            self.about = About::Scenarios;
        } else if let Some(package) = self.known.package(word) {
            self.close_place();
            self.about = About::Crate(package);
        } else {
            let exists = match &self.about {
                About::Place(_, tests) => tests.contains(word),
                About::Group(group) => self.known.scenarios.contains(&format!("{group}::{word}")),
                _ => false,
            };
            self.count(exists, || format!("there is no test {word} where it is looked for"));
        }
    }

    /// A word in backquotes: a file, a scenario or a command.
    fn quoted(&mut self, word: &str) {
        self.close_place();
        if let Some(command) = word.strip_prefix("cargo xtask ") {
            let name = command.split(' ').next().unwrap_or_default();
            self.count(commands::find(name).is_some(), || format!("there is no command `{word}`"));
            return;
        }
        match &self.about {
            About::Crate(package) | About::Place(package, _) => {
                let package = *package;
                let files = self.known.files(package, word);
                if files.is_empty() {
                    self.problems.push(format!("{} has no {word}", package.name));
                } else {
                    self.pending = Some(word.to_owned());
                }
                let tests = files.iter().flat_map(|file| tests(&file.text)).collect();
                self.about = About::Place(package, tests);
            }
            About::Scenarios | About::Group(_) if self.known.scenarios.contains(word) => {
                self.named += 1;
                self.about = About::Scenarios;
            }
            About::Scenarios | About::Group(_) => {
                self.pending = Some(word.to_owned());
                self.about = About::Group(word.to_owned());
            }
            About::Nothing => self.problems.push(format!("`{word}` belongs to no crate")),
        }
    }

    fn count(&mut self, exists: bool, problem: impl FnOnce() -> String) {
        if exists {
            self.named += 1;
        } else {
            self.problems.push(problem());
        }
        self.pending = None;
    }

    /// A place without a test in it says nothing.
    fn close_place(&mut self) {
        let pending = self.pending.take();
        self.problems.extend(pending.map(|place| format!("names no test in {place}")));
    }
}

impl<'a> Known<'a> {
    /// The member of the workspace of a name.
    fn package(&self, name: &str) -> Option<&'a Package> {
        self.workspace.packages.get(name).filter(|package| package.source.is_none())
    }

    /// The Rust files of a crate at or below a path.
    fn files(&self, package: &Package, path: &str) -> Vec<&'a SourceFile> {
        let folder = self.workspace.path_of(package);
        let places = ["src/", "tests/", ""].map(|place| format!("{folder}/{place}{path}"));
        let is_there = |file: &&SourceFile| {
            let rest = places.iter().find_map(|place| file.path.strip_prefix(place.as_str()));
            file.is_rust() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.workspace.files.iter().filter(is_there).collect()
    }
}

/// The names of the tests in a file: functions with a mark above them.
fn tests(text: &str) -> BTreeSet<String> {
    let (mut found, mut is_marked) = (BTreeSet::new(), false);
    for line in text.lines().map(str::trim_start) {
        if MARKS.iter().any(|mark| line.starts_with(mark)) {
            is_marked = true;
        } else if line.is_empty() {
            is_marked = false;
        } else if let Some(name) = function(line).filter(|_| is_marked) {
            found.insert(name.to_owned());
            is_marked = false;
        }
    }
    found
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    line.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    const CODE: &str = "//! Tests.\n\n#[test]\nfn one() {}\n\nfn helper() {}\n\n\
        #[rstest]\n#[case(1)]\nfn two(#[case] n: u8) {}\n\n#[tokio::test]\nasync fn three() {}\n";

    fn findings(cell: &str) -> Vec<String> {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let rows = "| subject | documents | v0 | ours | asserted by |\n|---|---|---|---|---|\n";
        let files = vec![
            file(DOCUMENT, &format!("{rows}| a \\| b | – | c | d | {cell} |\n")),
            file("olm-kit/src/queue/tests.rs", CODE),
            file("olm-testkit/tests/scenarios/main.rs", r#"trial("idle::no_writes", f)"#),
        ];
        let package = Package {
            name: "olm-kit".to_owned(),
            license: None,
            source: None,
            folder: workspace::root().join("olm-kit"),
            dependencies: Vec::new(),
            features: Vec::new(),
        };
        let packages = [(package.name.clone(), package)].into();
        let found = without_test(&Workspace { files, packages }).unwrap();
        found.iter().map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
    }

    #[test]
    fn what_exists_is_found() {
        assert!(
            findings("olm-kit `queue/tests.rs` one, two; scenario `idle` no_writes").is_empty()
        );
        assert!(findings("scenarios `idle::no_writes`, olm-kit `queue` three").is_empty());
        assert!(findings("`cargo xtask crash webhook-install`").is_empty());
    }

    #[test]
    fn what_does_not_exist_is_reported() {
        let missing = |word| [format!("there is no test {word} where it is looked for")];
        assert_eq!(findings("olm-kit `queue/tests.rs` on"), missing("on"));
        assert_eq!(findings("olm-kit `queue/tests.rs` helper"), missing("helper"));
        assert_eq!(findings("scenario `idle` no_reads"), missing("no_reads"));
        assert_eq!(findings("as above")[0], missing("as")[0]);
        assert_eq!(findings("olm-kit `queue/test.rs` one")[0], "olm-kit has no queue/test.rs");
        assert_eq!(findings("olm-kit `queue/tests.rs`"), ["names no test in queue/tests.rs"]);
        assert_eq!(findings("scenarios `idle`"), ["names no test in idle"]);
        assert_eq!(findings("`cargo xtask dance`"), ["there is no command `cargo xtask dance`"]);
        assert_eq!(findings("olm-kit"), ["names no test"]);
    }
}
