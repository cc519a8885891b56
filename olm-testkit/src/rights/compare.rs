//! Compares a table of rights with what was used.

use std::collections::BTreeSet;
use std::fmt;

use super::{Right, of};
use crate::audit::{Usage, Use};
use crate::operators::Operator;

/// What is wrong with the rights of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What the operator asked for and is in no row, or was refused.
    pub missing: BTreeSet<String>,
    /// What is in a row, that was not used, and no reason is given for.
    pub unused: BTreeSet<String>,
}

/// Compares the table of an operator with what it used in a run.
pub fn compare(operator: Operator, usage: &Usage) -> Findings {
    examine(of(operator), usage)
}

impl Findings {
    /// Whether rights are missing. The rest is known only after all scenarios.
    pub fn is_short(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.unused.is_empty()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("missing in the table", &self.missing),
            ("granted and not used; take it away or say why in `unseen`", &self.unused),
        ];
        for (what, entries) in parts {
            entries.iter().try_for_each(|entry| writeln!(f, "  {what}: {entry}"))?;
        }
        Ok(())
    }
}

pub(super) fn examine(rights: &[Right], usage: &Usage) -> Findings {
    let mut used = BTreeSet::new();
    let mut findings = Findings::default();
    let refused = usage.refused.iter().filter(|one| !was_allowed_later(usage, one));
    findings.missing.extend(refused.map(|one| format!("{one} (refused)")));
    for one in &usage.allowed {
        match rights.iter().position(|right| right.covers(one)) {
            Some(row) => drop(used.insert((row, cell(&rights[row], one)))),
            None => drop(findings.missing.insert(one.to_string())),
        }
    }
    for (row, right) in rights.iter().enumerate() {
        for cell in cells(right) {
            let text = format!("{} {}", cell.1, cell.0);
            if right.unseen.is_none() && !used.contains(&(row, cell)) {
                findings.unused.insert(text);
            }
        }
    }
    findings
}

/// An API server that starts refuses what it allows as soon as it has read its roles. Of a refused
/// creation the log does not know the name.
fn was_allowed_later(usage: &Usage, refused: &Use) -> bool {
    usage.allowed.iter().any(|allowed| {
        let name = if refused.name.is_empty() { "" } else { &allowed.name };
        *refused == Use { name: name.to_owned(), ..allowed.clone() }
    })
}

/// Resource and verb of a row, as the row spells them.
type Cell = (String, String);

fn cells(right: &Right) -> impl Iterator<Item = Cell> {
    let resources = right.resources.iter();
    resources.flat_map(|resource| {
        right.verbs.iter().map(|verb| (spelled(right.group, resource), (*verb).to_owned()))
    })
}

fn cell(right: &Right, used: &Use) -> Cell {
    let resource = right.resources.iter().find(|one| **one == used.resource).unwrap_or(&"*");
    let verb = right.verbs.iter().find(|one| **one == used.verb).unwrap_or(&"*");
    (spelled(right.group, resource), (*verb).to_owned())
}

fn spelled(group: &str, resource: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}
