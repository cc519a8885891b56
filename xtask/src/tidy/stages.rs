//! The table of stages in ARCHITECTURE.md has those that olm-lifecycle runs, in the same order.

use anyhow::Result;

use super::Workspace;

/// Where the stages are listed, and where they are described.
const CODE: &str = "olm-lifecycle/src/csv/stages/mod.rs";
const PAGE: &str = "ARCHITECTURE.md";

/// What begins the list in the code.
const LIST: &str = "pub const STAGES";

/// The first place where code and page differ.
pub(super) fn out_of_order(workspace: &Workspace) -> Result<Vec<String>> {
    let text = |path: &str| {
        let file = workspace.files.iter().find(|file| file.path == path);
        file.map_or("", |file| file.text.as_str())
    };
    Ok(difference(&listed(text(CODE)), &described(text(PAGE))).into_iter().collect())
}

fn difference(listed: &[&str], described: &[(usize, &str)]) -> Option<String> {
    if listed.is_empty() {
        return Some(format!("{CODE} has no list `{LIST}`"));
    }
    let places = 0..listed.len().max(described.len());
    places.into_iter().find_map(|place| {
        let expected = listed.get(place).map(|name| (place + 1, *name));
        let found = described.get(place).copied();
        (expected != found).then(|| format!("{PAGE} has {found:?} where {CODE} has {expected:?}"))
    })
}

/// The elements of the list, without `&`.
fn listed(code: &str) -> Vec<&str> {
    let list = code.split_once(LIST).map_or("", |(_, rest)| rest);
    let list = list.split("];").next().unwrap_or_default();
    let elements = list.lines().filter_map(|line| line.trim().strip_prefix('&'));
    elements.filter_map(|element| element.strip_suffix(',')).collect()
}

/// Number and name of the rows that begin so.
fn described(page: &str) -> Vec<(usize, &str)> {
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let number = cells.next()?.parse().ok()?;
        Some((number, cells.next()?.trim_matches('`')))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str =
        "pub const STAGES: &[&dyn Stage] = &[\n    &Copied,\n    &Servers::FAILED,\n];\n&Not,";

    #[test]
    fn a_table_in_order_agrees_and_any_other_does_not() {
        let page = "| | stage |\n|---|---|\n| 1 | `Copied` | a |\n| 2 | `Servers::FAILED` | b |\n";
        assert_eq!(listed(CODE), ["Copied", "Servers::FAILED"]);
        assert_eq!(difference(&listed(CODE), &described(page)), None);
        for other in [
            "| 1 | `Servers::FAILED` | b |\n| 2 | `Copied` | a |\n",
            "| 1 | `Copied` | a |\n",
            "| 1 | `Copied` | a |\n| 2 | `Servers::FAILED` | b |\n| 3 | `More` | c |\n",
            "| 1 | `Copied` | a |\n| 3 | `Servers::FAILED` | b |\n",
        ] {
            assert!(difference(&listed(CODE), &described(other)).is_some(), "{other}");
        }
        assert!(difference(&listed(""), &described(page)).is_some());
    }
}
