//! Cells of tables that name tests, in words that a program can follow:
//!
//! * a crate, then files or folders of it, its `src/` or its `tests/`, each followed by the tests in it
//!   that assert the row: ``olm-kit `queue/tests.rs` the_earliest_delay_wins``;
//! * `scenario`, then names of scenarios, or a group and the scenarios in it: ``scenario `idle` no_writes``;
//! * a command that shows the row: `` `cargo xtask crash webhook-install` ``;
//! * where a page says so, scenarios without that word: `` `hostile::many` ``, and ways that are played under both
//!   tenant policies, without their groups: `` `forged_owners` ``.

use std::collections::BTreeSet;

use super::{Workspace, scenarios};
use crate::commands;
use crate::workspace::{Package, SourceFile};

/// What makes a function a test.
const MARKS: [&str; 3] = ["#[test]", "#[rstest", "#[tokio::test"];

/// The groups of scenarios that play each way, one for each policy.
const POLICIES: [&str; 2] = ["escalation_v0", "escalation_strict"];

/// What a row can refer to.
pub(super) struct Known<'a> {
    workspace: &'a Workspace,
    scenarios: BTreeSet<String>,
}

/// What a name in backquotes is before any crate is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    /// Nothing: a crate or the word `scenario` has to stand before it.
    Nothing,
    /// A scenario, or a way of those that are played under both tenant policies.
    Scenario,
}

/// What the words of a cell have been about so far.
enum CellSubject<'a> {
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
    bare: Bare,
    about: CellSubject<'a>,
    /// A place or a group of which no test was named yet.
    pending: Option<String>,
    /// How many tests, scenarios and commands were named.
    named: usize,
    problems: Vec<String>,
}

impl<'a> Row<'a> {
    fn new(known: &'a Known<'a>, bare: Bare) -> Self {
        let (about, problems) = (CellSubject::Nothing, Vec::new());
        Self { known, bare, about, pending: None, named: 0, problems }
    }

    /// What is wrong with a cell.
    fn read(mut self, cell: &str) -> Vec<String> {
        let row = &mut self;
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
        self.problems
    }

    /// A word outside of backquotes: what the next names are about, or a test.
    fn word(&mut self, word: &str) {
        if word == "scenario" || word == "scenarios" {
            self.close_place();
            self.about = CellSubject::Scenarios;
        } else if let Some(package) = self.known.package(word) {
            self.close_place();
            self.about = CellSubject::Crate(package);
        } else {
            let exists = match &self.about {
                CellSubject::Place(_, tests) => tests.contains(word),
                CellSubject::Group(group) => {
                    self.known.scenarios.contains(&format!("{group}::{word}"))
                }
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
            CellSubject::Crate(package) | CellSubject::Place(package, _) => {
                let package = *package;
                let files = self.known.files(package, word);
                if files.is_empty() {
                    self.problems.push(format!("{} has no {word}", package.name));
                } else {
                    self.pending = Some(word.to_owned());
                }
                let tests = files.iter().flat_map(|file| tests(&file.text)).collect();
                self.about = CellSubject::Place(package, tests);
            }
            CellSubject::Scenarios | CellSubject::Group(_)
                if self.known.scenarios.contains(word) =>
            {
                self.named += 1;
                self.about = CellSubject::Scenarios;
            }
            CellSubject::Scenarios | CellSubject::Group(_) => {
                self.pending = Some(word.to_owned());
                self.about = CellSubject::Group(word.to_owned());
            }
            CellSubject::Nothing if self.bare == Bare::Scenario => {
                let exists = self.known.is_played(word);
                self.count(exists, || format!("there is no scenario {word}, nor such a way"));
            }
            CellSubject::Nothing => self.problems.push(format!("`{word}` belongs to no crate")),
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
    /// What there is.
    pub(super) fn of(workspace: &'a Workspace) -> Self {
        Self { workspace, scenarios: scenarios::names(workspace) }
    }

    /// What is wrong with a cell.
    pub(super) fn problems(&self, cell: &str, bare: Bare) -> Vec<String> {
        Row::new(self, bare).read(cell)
    }

    /// Whether this is a scenario, or a way with one under each policy.
    fn is_played(&self, name: &str) -> bool {
        let of = |group: &&str| self.scenarios.contains(&format!("{group}::{name}"));
        self.scenarios.contains(name) || POLICIES.iter().all(of)
    }

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
