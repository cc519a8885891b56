//! Every row of docs/differences.md, and every row of docs/security.md and docs/upgrade-policy.md that says what plays
//! it, names tests that exist ([`references`](super::references)).

use anyhow::{Context, Result};

use super::Workspace;
use super::references::{Bare, Known};

/// A page whose tables name tests.
struct Page {
    path: &'static str,
    /// Heads of the columns that do.
    heads: &'static [&'static str],
    /// Whether a table without such a column is none of its business; otherwise its last column counts.
    has_others: bool,
    bare: Bare,
}

const PAGES: [Page; 3] = [
    Page {
        path: "docs/differences.md",
        heads: &["asserted by"],
        has_others: false,
        bare: Bare::Nothing,
    },
    Page {
        path: "docs/security.md",
        heads: &["played by", "scenario"],
        has_others: true,
        bare: Bare::Scenario,
    },
    Page {
        path: "docs/upgrade-policy.md",
        heads: &["played by"],
        has_others: true,
        bare: Bare::Scenario,
    },
];

/// Rows without a test, and names of tests, files, scenarios and commands that do not exist.
pub(super) fn without_test(workspace: &Workspace) -> Result<Vec<String>> {
    let known = Known::of(workspace);
    let mut found = Vec::new();
    for page in &PAGES {
        let document = workspace.files.iter().find(|file| file.path == page.path);
        let text = &document.with_context(|| format!("there is no {}", page.path))?.text;
        for (number, cell) in page.cells(text) {
            let problems = known.problems(cell, page.bare).into_iter();
            found.extend(problems.map(|problem| format!("{}:{number}: {problem}", page.path)));
        }
    }
    Ok(found)
}

impl Page {
    /// The cells that name tests, with the numbers of their lines.
    fn cells<'a>(&self, text: &'a str) -> Vec<(usize, &'a str)> {
        let (mut found, mut column) = (Vec::new(), None);
        let mut is_table = false;
        for (number, line) in (1..).zip(text.lines()) {
            match cells(line) {
                None if line.starts_with('|') => {}
                None => is_table = false,
                Some(head) if !is_table => {
                    column = self.column(&head);
                    is_table = true;
                }
                Some(row) => {
                    let cell = |at: usize| row.get(at).copied().unwrap_or_default();
                    found.extend(column.map(|at| (number, cell(at))));
                }
            }
        }
        found
    }

    /// Which column of a table names tests.
    fn column(&self, head: &[&str]) -> Option<usize> {
        let named = head.iter().position(|cell| self.heads.contains(cell));
        let last = || head.len().checked_sub(1).filter(|_| !self.has_others);
        named.or_else(last)
    }
}

/// The cells of a row of a table, or of its head.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{self, Package, SourceFile};

    const CODE: &str = "//! Tests.\n\n#[test]\nfn one() {}\n\nfn helper() {}\n\n\
        #[rstest]\n#[case(1)]\nfn two(#[case] n: u8) {}\n\n#[tokio::test]\nasync fn three() {}\n";

    const DIFFERENCES: &str =
        "| subject | documents | v0 | ours | asserted by |\n|---|---|---|---|---|\n";

    const SECURITY: &str = "| what | at most |\n|---|---|\n| a name | 253 |\n\n\
        | way | `v0` | `strict` | played by |\n|---|---|---|---|\n";

    /// What is wrong with these rows of the two pages.
    fn findings_of(differences: &str, security: &str) -> Vec<String> {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let scenarios = r#"trial("idle::no_writes", f), ("escalation_v0::plan", "escalation_strict::plan"),
            ("escalation_v0::once", f)"#;
        let files = vec![
            file("docs/differences.md", &format!("{DIFFERENCES}{differences}")),
            file("docs/security.md", &format!("{SECURITY}{security}")),
            file(
                "docs/upgrade-policy.md",
                "| pair | played by |\n|---|---|\n| a, b | `idle::no_writes` |\n",
            ),
            file("olm-kit/src/queue/tests.rs", CODE),
            file("olm-testkit/tests/scenarios/main.rs", scenarios),
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

    fn findings(cell: &str) -> Vec<String> {
        findings_of(&format!("| a \\| b | – | c | d | {cell} |\n"), "")
    }

    /// In a table that says what plays each way.
    fn played(cell: &str) -> Vec<String> {
        findings_of("", &format!("| a | b | c | {cell} |\n"))
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
        assert_eq!(findings("`plan`"), ["`plan` belongs to no crate"]);
        assert_eq!(findings_of("| a | b |\n", ""), ["names no test"]);
    }

    #[test]
    fn ways_and_scenarios_of_the_page_on_security_exist() {
        let both = "`plan`, `idle::no_writes`; olm-kit `queue/tests.rs` one";
        assert!(played(both).is_empty(), "{:?}", played(both));
        let missing = |name| [format!("there is no scenario {name}, nor such a way")];
        assert_eq!(played("`plam`"), missing("plam"));
        assert_eq!(played("`once`"), missing("once"), "under one policy only");
        assert_eq!(played("`idle::no_reads`"), missing("idle::no_reads"));
        assert_eq!(played("olm-kit `queue/tests.rs`"), ["names no test in queue/tests.rs"]);
        assert_eq!(played("–")[0], "there is no test – where it is looked for");
        assert_eq!(played(""), ["names no test"]);
    }

    /// Where the column is not the last one; a table without one says nothing about tests.
    #[test]
    fn the_head_says_which_column_it_is() {
        let table = |cell: &str| {
            let head = "\n| attack | scenario | where it is played |\n|---|---|---|\n";
            findings_of("", &format!("{head}| many | {cell} | `.ci/run` |\n"))
        };
        assert!(table("`idle::no_writes`").is_empty());
        assert_eq!(table("`idle`"), ["there is no scenario idle, nor such a way"]);
    }
}
