//! What is wrong, found in observed objects: a table of codes, each with what triggers it, what is shown
//! for it and what repairs it.
//!
//! A check is a function from objects to findings. One whose objects could not all be read is skipped, and
//! says so: nothing that was not looked at is called healthy.

mod catalogs;
mod codes;
mod csvs;
mod groups;
mod server;
mod subscriptions;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;

use crate::observed::{Observed, Plural, name, namespace};

pub use codes::{CODES, code};

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
    /// What ends it.
    pub class: Class,
    /// Kinds without which nothing can be said.
    pub needs: &'static [Plural],
    /// Finds it.
    pub find: fn(&Observed, Timestamp) -> Vec<Found>,
}

/// An object with what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Kind of the object.
    pub kind: &'static str,
    /// Its namespace; empty for objects of the cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// One line that shows it.
    pub evidence: String,
    /// What to do about it, for this object.
    pub fix: String,
}

impl Found {
    fn of(kind: &'static str, metadata: &ObjectMeta, evidence: String, fix: String) -> Self {
        let (namespace, name) = (namespace(metadata).to_owned(), name(metadata).to_owned());
        Self { kind, namespace, name, evidence, fix }
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
    pub kind: &'static str,
    /// Namespace of the object; empty for one of the cluster.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// One line that shows it.
    pub evidence: String,
    /// What to do about it.
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
}

/// Makes every check. `now` decides what is overdue.
#[must_use]
pub fn examine(observed: &Observed, now: Timestamp) -> Report {
    let mut report = Report::default();
    for code in CODES {
        let unread = code.needs.iter().find_map(|kind| observed.unread.get_key_value(kind));
        if let Some((kind, cause)) = unread {
            report.skipped.push(Skipped { code: code.id, cause: format!("{kind}: {cause}") });
            continue;
        }
        let mut found = (code.find)(observed, now);
        found.sort_by(|a, b| {
            (&a.namespace, &a.name, &a.evidence).cmp(&(&b.namespace, &b.name, &b.evidence))
        });
        report.findings.extend(found.into_iter().map(|found| finding(code, found)));
    }
    report
}

/// A word of a shell's command line. Names of packages and CSVs in specs and messages are free text.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn finding(code: &Code, found: Found) -> Finding {
    let Found { kind, namespace, name, evidence, fix } = found;
    let (code, title, class) = (code.id, code.title, code.class);
    Finding { code, title, kind, namespace, name, evidence, fix, class }
}
