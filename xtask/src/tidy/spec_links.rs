//! Links of any page to a section of docs/spec, and links of docs/spec to rows of docs/differences.md, lead
//! somewhere; and each section says where v0 has its rule.
//!
//! A link to a row is `[beginning of its subject][label]`, where the page defines the label as a table
//! of docs/differences.md.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::Workspace;
use super::citations::anchors;
use crate::workspace::SourceFile;

/// Where the pages are.
const FOLDER: &str = "docs/spec/";

/// The document with the rows, and how a page refers to one of its tables.
const DIFFERENCES: &str = "docs/differences.md";
const TABLE: &str = "../differences.md#";

/// Sections, or chapters as a whole, that state no rule of v0: names, examples, and what v0 does not test.
const WITHOUT_RULE: [(&str, &str); 3] = [
    ("docs/spec/catalog-operator.md", "0.1"),
    ("docs/spec/catalog-operator.md", "9.13"),
    ("docs/spec/olm-operator.md", "8"),
];

/// Links to sections, tables and rows that do not exist.
pub(super) fn broken(workspace: &Workspace) -> Result<Vec<String>> {
    let pages: Vec<&SourceFile> =
        workspace.files.iter().filter(|file| file.path.starts_with(FOLDER)).collect();
    let known = Known {
        sections: pages.iter().map(|page| (page.path.as_str(), anchors(&page.text))).collect(),
        tables: workspace
            .files
            .iter()
            .find(|file| file.path == DIFFERENCES)
            .map_or_else(BTreeMap::new, |file| subjects(&file.text)),
    };
    let documents = workspace.files.iter().filter(|file| file.path.ends_with(".md"));
    let problems = documents.flat_map(|page| {
        let all = known.without_section(page).into_iter().chain(known.without_row(page));
        all.map(|(at, problem)| format!("{}:{}: {problem}", page.path, line(&page.text, at)))
    });
    Ok(problems.collect())
}

/// Sections that do not say where v0 has their rule. A chapter may say so for all its sections.
pub(super) fn without_source(workspace: &Workspace) -> Result<Vec<String>> {
    let pages = workspace.files.iter().filter(|file| file.path.starts_with(FOLDER));
    Ok(pages.flat_map(unsourced).collect())
}

fn unsourced(page: &SourceFile) -> Vec<String> {
    let sections = sections(&page.text);
    let has_source = |text: &str| text.lines().any(|line| line.starts_with("v0: "));
    let sourced: BTreeSet<&str> =
        sections.iter().filter(|(_, text)| has_source(text)).map(|(name, _)| *name).collect();
    let missing = sections.iter().filter_map(|(name, _)| {
        let (chapter, _) = name.split_once('.')?;
        let is_explained = [*name, chapter]
            .into_iter()
            .any(|one| sourced.contains(one) || WITHOUT_RULE.contains(&(page.path.as_str(), one)));
        let problem =
            || format!("{}: section {name} does not say where v0 has its rule", page.path);
        (!is_explained).then(problem)
    });
    missing.collect()
}

/// Name and text of each section.
fn sections(text: &str) -> Vec<(&str, &str)> {
    text.split("<a id=\"").skip(1).filter_map(|rest| rest.split_once('"')).collect()
}

/// What a page can link to.
struct Known<'a> {
    /// The sections of each page.
    sections: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The subjects of each table, by the anchor of its heading.
    tables: BTreeMap<String, Vec<String>>,
}

impl Known<'_> {
    /// Where a page links to a section that its own or another page does not have.
    fn without_section(&self, page: &SourceFile) -> Vec<(usize, String)> {
        let links = page.text.match_indices("](").filter_map(|(at, mark)| {
            let target = page.text[at + mark.len()..].split(')').next()?;
            let (file, section) = target.split_once('#')?;
            let path = if file.is_empty() { page.path.clone() } else { beside(&page.path, file) };
            let sections = self.sections.get(path.as_str())?;
            (!sections.contains(section)).then(|| (at, format!("{path} has no section {section}")))
        });
        links.collect()
    }

    /// Where a page links to a table or a row of docs/differences.md that is not there.
    fn without_row(&self, page: &SourceFile) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (label, table) in tables_of(&page.text) {
            let mark = format!("][{label}]");
            for (at, _) in page.text.match_indices(&mark) {
                let text = link_text(&page.text[..at]);
                let subject = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let rows = self.tables.get(table).into_iter().flatten();
                if !rows.clone().any(|row| row.starts_with(&subject)) {
                    found.push((at, format!("{DIFFERENCES}#{table} has no row \"{subject}\"")));
                }
            }
        }
        found
    }
}

/// The path of a file to which a page leads, from the root.
fn beside(page: &str, file: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The end of a text from the bracket that is still open; brackets in a link's text are in pairs.
fn link_text(before: &str) -> &str {
    let mut open = 1_usize;
    for (at, character) in before.char_indices().rev() {
        match character {
            ']' => open += 1,
            '[' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return &before[at + 1..];
        }
    }
    before
}

/// The labels that a page defines for tables of docs/differences.md.
fn tables_of(text: &str) -> Vec<(&str, &str)> {
    let defined = text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
    defined.filter_map(|(label, target)| Some((label, target.strip_prefix(TABLE)?))).collect()
}

/// The first cells of the rows below each heading; a bar in a cell is written `\|`.
fn subjects(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut heading = String::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = anchor(title);
        } else if let Some((subject, _)) =
            line.strip_prefix("| ").and_then(|row| row.split_once(" | "))
        {
            tables.entry(heading.clone()).or_default().push(subject.replace("\\|", "|"));
        }
    }
    tables
}

/// The anchor that GitHub gives to a heading.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The number of the line of a position.
fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "## Running: CSVs\n\n| subject | v0 |\n|---|---|\n| two CSVs own one CRD | a |\n\
        | a dash (`[-]`) \\|\\| in YAML | b |\n";

    fn findings(page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let text = format!("<a id=\"1.2\"></a>\n{page}\n\n[running]: {TABLE}running-csvs\n");
        let files = vec![
            file(DIFFERENCES, ROWS),
            file("docs/spec/one.md", &text),
            file("docs/spec/two.md", "<a id=\"7\"></a>\n"),
        ];
        broken(&Workspace { files, packages: BTreeMap::new() }).unwrap()
    }

    #[test]
    fn what_exists_is_found() {
        let none: [&str; 0] = [];
        assert_eq!(
            findings("[1.2](#1.2), [two](two.md#7), [elsewhere](../install.md#flags)"),
            none
        );
        assert_eq!(findings("[two CSVs own\none CRD][running], [two CSVs][running]"), none);
        assert_eq!(findings("[a dash (`[-]`) || in YAML][running]"), none);
    }

    #[test]
    fn sections_are_found_from_any_page() {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let files = vec![
            file("docs/spec/one.md", "<a id=\"1.2\"></a>\n"),
            file("docs/install.md", "[1.2](spec/one.md#1.2), [1.3](spec/one.md#1.3)\n"),
            file(
                "deploy/README.md",
                "[1.2](../docs/spec/one.md#1.2), [1.4](../docs/spec/one.md#1.4)\n",
            ),
        ];
        let found = broken(&Workspace { files, packages: BTreeMap::new() }).unwrap();
        let expected = [
            "docs/install.md:1: docs/spec/one.md has no section 1.3",
            "deploy/README.md:1: docs/spec/one.md has no section 1.4",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_section_or_its_chapter_says_where_v0_has_the_rule() {
        let found = |text: &str| {
            let file = SourceFile { path: "docs/spec/one.md".into(), text: text.into() };
            without_source(&Workspace { files: vec![file], packages: BTreeMap::new() }).unwrap()
        };
        let none: [&str; 0] = [];
        let (chapter, section) = ("<a id=\"1\"></a>\n", "<a id=\"1.1\"></a>\nA rule.\n");
        assert_eq!(found(&format!("{chapter}{section}v0: `a.go`.\n")), none);
        assert_eq!(found(&format!("{chapter}v0: `a.go`.\n{section}")), none);
        let problem = "docs/spec/one.md: section 1.1 does not say where v0 has its rule";
        assert_eq!(found(&format!("{chapter}{section}As in v0: nothing.\n")), [problem]);
    }

    #[test]
    fn what_does_not_exist_is_named_with_its_line() {
        assert_eq!(
            findings("[1.3](#1.3)"),
            ["docs/spec/one.md:2: docs/spec/one.md has no section 1.3"]
        );
        assert_eq!(
            findings("\n[8](two.md#8)"),
            ["docs/spec/one.md:3: docs/spec/two.md has no section 8"]
        );
        let row = "docs/spec/one.md:2: docs/differences.md#running-csvs has no row \"one CSV\"";
        assert_eq!(findings("[one CSV][running]"), [row]);
    }
}
