//! The table of what a change concerns has no gaps: every place in crates that ship, and every group of
//! scenarios.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Workspace;
use crate::test::concerns::{CONCERNS, lies_in};

/// Crates of which every file stands in the table.
const SHIPPED: [&str; 14] = [
    "catalog-operator/src/",
    "kubectl-olm/src/",
    "olm-catalog/src/",
    "olm-client/src/",
    "olm-console/src/",
    "olm-effect/src/",
    "olm-kit/src/",
    "olm-lifecycle/src/",
    "olm-operator/src/",
    "olm-opgroup/src/",
    "olm-plan/src/",
    "olm-rbac/src/",
    "olm-resolver/src/",
    "olm-types/src/",
];

/// Where scenarios are named.
const SCENARIOS: [&str; 2] = ["olm-testkit/src/e2e/scenarios", "olm-testkit/tests/scenarios"];

/// Files without a row, rows without a file, groups that no row names, and names without a scenario.
pub(super) fn gaps(workspace: &Workspace) -> Result<Vec<String>> {
    let shipped = || {
        let rust = workspace.files.iter().filter(|file| file.is_rust());
        rust.filter(|file| SHIPPED.iter().any(|folder| file.path.starts_with(folder)))
    };
    let has_row = |path: &str| CONCERNS.iter().any(|(place, _)| lies_in(path, place));
    let without = shipped().filter(|file| !has_row(&file.path));
    let mut found: Vec<String> = without.map(|file| format!("{} has no row", file.path)).collect();
    for (place, _) in CONCERNS {
        if !workspace.files.iter().any(|file| lies_in(&file.path, place)) {
            found.push(format!("{place} is nowhere"));
        }
    }
    let names = names(workspace);
    let listed = || CONCERNS.iter().flat_map(|(_, groups)| *groups);
    let unknown = listed().filter(|listed| !names.iter().any(|name| begins(name, listed)));
    found.extend(unknown.map(|name| format!("no scenario is named {name}")));
    let unnamed = names.iter().filter(|name| !listed().any(|listed| begins(name, listed)));
    found.extend(unnamed.map(|name| format!("{name} stands in no row")));
    Ok(found)
}

fn begins(name: &str, group: &str) -> bool {
    name.starts_with(group)
}

/// The names of scenarios: literals of the form `group::name` where scenarios are listed.
pub(super) fn names(workspace: &Workspace) -> BTreeSet<String> {
    let listing = workspace.files.iter().filter(|file| file.is_rust());
    let listing = listing.filter(|file| SCENARIOS.iter().any(|place| lies_in(&file.path, place)));
    listing.flat_map(|file| literals(&file.text)).collect()
}

fn literals(text: &str) -> impl Iterator<Item = String> {
    text.split('"').skip(1).step_by(2).filter(|literal| is_name(literal)).map(str::to_owned)
}

fn is_name(literal: &str) -> bool {
    let word = |word: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !word.is_empty() && word.chars().all(plain)
    };
    literal.contains("::") && literal.split("::").all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_literals_with_a_group() {
        let text =
            r#"scenario("install::an_operator", "An operator", f), "a::B", "x", "a::", "a::b::c""#;
        assert_eq!(literals(text).collect::<Vec<_>>(), ["install::an_operator", "a::b::c"]);
    }
}
