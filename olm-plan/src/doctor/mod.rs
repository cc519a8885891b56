//! What is wrong, found in observed objects: a table of codes, each with what triggers it, what is shown
//! for it and what repairs it.
//!
//! A check is a function from objects to findings. One whose objects could not all be read is skipped, and
//! says so: nothing that was not looked at is called healthy. What a status says is evidence and no more:
//! a command is printed for objects that exist and that the check has compared.

mod catalogs;
mod certificates;
mod codes;
mod csvs;
mod document;
mod failed;
mod fix;
mod groups;
mod names;
mod nearest;
mod objects;
mod plans;
mod preconditions;
mod reading;
mod server;
mod subscriptions;
mod view;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;

use crate::observed::{Observed, Plural, name, namespace};

pub use codes::{code, codes};
pub use document::table as document;
pub use fix::{Fix, quoted as shell_word};
pub use reading::{PackageLookup, PackageReads, wanted};
pub use server::{Server, packages_api_away, servers};
pub use view::View;

/// Characters of evidence that are kept: statuses may hold anything.
const EVIDENCE: usize = 400;

/// What ends a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Class {
    /// The user, with a command.
    #[serde(rename = "command")]
    Command,
    /// Time, or whatever OLM waits for.
    #[serde(rename = "wait")]
    Wait,
    /// A new version of the operator, or of its catalog.
    #[serde(rename = "ask the author")]
    AskTheAuthor,
}

impl Class {
    /// The words that are printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Wait => "wait",
            Self::AskTheAuthor => "ask the author",
        }
    }
}

/// A row of the table: something that can be wrong.
#[derive(Debug)]
pub struct Code {
    /// `OLM001` and so on; it never changes its meaning.
    pub id: &'static str,
    /// What is wrong, in one line.
    pub title: &'static str,
    /// What the objects look like.
    pub trigger: &'static str,
    /// What is done about it, in general; a finding says it for its object.
    pub fix: &'static str,
    /// What ends it, as a rule. A finding for which no command is known has another class.
    pub class: Class,
    /// Whether it is looked for before an installation or a take-over, and not otherwise.
    pub is_before: bool,
    /// Kinds without which nothing can be said.
    pub needs: &'static [Plural],
    /// Finds it.
    pub find: fn(&View<'_>) -> Vec<Found>,
}

/// An object with what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Kind of the object.
    pub kind: String,
    /// Its namespace; empty for objects of the cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What shows it.
    pub evidence: String,
    /// What to do about it, for this object.
    pub fix: Fix,
}

impl Found {
    fn of(kind: &str, metadata: &ObjectMeta, evidence: String, fix: Fix) -> Self {
        let (namespace, name) = (namespace(metadata).to_owned(), name(metadata).to_owned());
        Self { kind: kind.to_owned(), namespace, name, evidence, fix }
    }

    fn of_cluster(kind: &str, name: &str, evidence: String, fix: Fix) -> Self {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        Self { kind, namespace: String::new(), name, evidence, fix }
    }
}

/// A finding, as it is printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The code.
    pub code: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Kind of the object.
    pub kind: String,
    /// Namespace of the object; empty for one of the cluster.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// One line that shows it.
    pub evidence: String,
    /// What to do about it: of class `command` a line for a shell.
    pub fix: String,
    /// What ends it.
    pub class: Class,
}

/// A check that was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The code.
    pub code: &'static str,
    /// What could not be read, and why.
    pub cause: String,
}

/// What was found, and what was not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// In the order of codes, then of objects.
    pub findings: Vec<Finding>,
    /// In the order of codes.
    pub skipped: Vec<Skipped>,
    /// The codes that were looked for, the skipped ones among them.
    pub checks: Vec<&'static str>,
}

impl Report {
    /// How many findings there are, in words.
    #[must_use]
    pub fn counted(&self) -> String {
        match self.findings.len() {
            1 => "1 finding".to_owned(),
            number => format!("{number} findings"),
        }
    }

    /// The same, and what was not looked at.
    #[must_use]
    pub fn summary(&self) -> String {
        let (skipped, checks) = (self.skipped.len(), self.checks.len());
        format!("{}, {skipped} of {checks} checks skipped", self.counted())
    }
}

impl Finding {
    /// The object that is found, as a reader names it: kind, namespace where it has one, and name.
    #[must_use]
    pub fn object(&self) -> String {
        match self.namespace.is_empty() {
            true => format!("{} {}", self.kind, self.name).trim_end().to_owned(),
            false => format!("{} {}/{}", self.kind, self.namespace, self.name),
        }
    }
}

/// Makes every check; those of the time before an installation or a take-over where that is asked for.
/// `now` decides what is overdue.
#[must_use]
pub fn examine(observed: &Observed, before: bool, now: Timestamp) -> Report {
    let view = View::new(observed, now);
    let mut report = Report::default();
    for code in codes().into_iter().filter(|code| before || !code.is_before) {
        report.checks.push(code.id);
        let unread = code.needs.iter().find_map(|kind| observed.unread.get_key_value(kind));
        if let Some((kind, cause)) = unread {
            let cause = one_line(&format!("{kind}: {cause}"));
            report.skipped.push(Skipped { code: code.id, cause });
            continue;
        }
        let mut found = (code.find)(&view);
        found.sort_by(|a, b| {
            (&a.namespace, &a.name, &a.evidence).cmp(&(&b.namespace, &b.name, &b.evidence))
        });
        report.findings.extend(found.into_iter().map(|found| finding(code, found)));
    }
    report
}

fn finding(code: &Code, found: Found) -> Finding {
    let Found { kind, namespace, name, evidence, fix } = found;
    Finding {
        code: code.id,
        title: code.title,
        kind,
        namespace,
        name,
        evidence: one_line(&evidence),
        class: fix.class(),
        fix: fix.into_text(),
    }
}

/// A text on one line, of bounded length.
fn one_line(text: &str) -> String {
    // More is not looked at, however long a status is.
    let start: String = text.chars().take(4 * EVIDENCE).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_whole = start.len() == text.len() && line.chars().count() <= EVIDENCE;
    let mut kept: String = line.chars().take(EVIDENCE).collect();
    if !is_whole {
        kept.push('…');
    }
    kept
}
