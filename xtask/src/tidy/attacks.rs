//! docs/security.md lists each way that is played under both tenant policies, and counts those that are closed.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::{Workspace, scenarios};

const PAGE: &str = "docs/security.md";

/// The head of the table.
const HEAD: &str = "| attack | `strict` | `v0` | scenario |";

/// One of the two groups that play each way.
const GROUP: &str = "escalation_v0::";

/// A way, and what becomes of it under each policy.
struct Row<'a> {
    strict: &'a str,
    v0: &'a str,
    scenario: &'a str,
}

/// Ways that are not in the table, and a sentence with other numbers than the table has.
pub(super) fn miscounted(workspace: &Workspace) -> Result<Vec<String>> {
    let page = workspace.files.iter().find(|file| file.path == PAGE);
    let text = &page.with_context(|| format!("there is no {PAGE}"))?.text;
    let rows = rows(text);
    let listed: BTreeSet<&str> = rows.iter().map(|row| row.scenario).collect();
    let names = scenarios::names(workspace);
    let played = names.iter().filter_map(|name| name.strip_prefix(GROUP));
    let missing = played.filter(|way| !listed.contains(way));
    let mut found: Vec<String> =
        missing.map(|way| format!("{PAGE} does not say what becomes of {way}")).collect();
    let (said, expected) = (text.split_whitespace().collect::<Vec<_>>().join(" "), sum(&rows));
    if !said.contains(&expected) {
        found.push(format!("{PAGE} does not say: {expected}"));
    }
    Ok(found)
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let rows = text.lines().skip_while(|line| *line != HEAD).skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let row = |row| {
        let mut cells = str::split(row, " | ").skip(1);
        let (strict, v0, scenario) = (cells.next()?, cells.next()?, cells.next()?);
        Some(Row { strict, v0, scenario: scenario.trim_matches('`') })
    };
    rows.filter_map(row).collect()
}

fn sum(rows: &[Row<'_>]) -> String {
    let strict = |word: &str| rows.iter().filter(|row| row.strict == word).count();
    let v0 = |word: &str| rows.iter().filter(|row| row.v0 == word).count();
    format!(
        "{} ways to gain something, each under both policies: `strict` closes {}, and one works as an \
         administrator offers it; under `v0` {} are open, as in OLM v0, and {} are closed.",
        rows.len(),
        strict("closed"),
        v0("open"),
        v0("closed")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::SourceFile;

    const ROWS: &str = "| a | closed | open | `one` |\n| b | closed | closed | `two` |\n";

    fn findings(sentence: &str, rows: &str) -> Vec<String> {
        let file = |path: &str, text: String| SourceFile { path: path.into(), text };
        let ways = r#"("escalation_v0::one", "escalation_strict::one", f), ("escalation_v0::two")"#;
        let page = format!("{sentence}\n\n{HEAD}\n|---|---|---|---|\n{rows}\nThe end.\n");
        let files =
            vec![file(PAGE, page), file("olm-testkit/tests/scenarios/main.rs", ways.to_owned())];
        miscounted(&Workspace { files, packages: Default::default() }).unwrap()
    }

    #[test]
    fn a_sentence_with_the_numbers_of_the_table_is_fine() {
        let sentence = sum(&rows(&format!("{HEAD}\n|---|\n{ROWS}")));
        assert!(sentence.starts_with("2 ways"), "{sentence}");
        assert!(findings(&sentence.replace("policies: ", "policies:\n"), ROWS).is_empty());
        let other = findings(&sentence.replace("closes 2", "closes 1"), ROWS);
        assert_eq!(other, [format!("{PAGE} does not say: {sentence}")]);
    }

    #[test]
    fn a_way_that_is_played_stands_in_the_table() {
        let found = findings("", "| a | closed | open | `one` |\n");
        assert_eq!(found.first().unwrap(), "docs/security.md does not say what becomes of two");
    }
}
