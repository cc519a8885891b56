//! Every section of docs/spec that code or documents cite exists. In Rust a citation is text; in a page it is a
//! link, which [`spec_links`](super::spec_links) follows.
//!
//! A citation is the word "spec", the name of an operator and its sections: spec olm-operator 6.1, 6.2.
//! Between them may stand "and", "to", a dash, the other operator, a quoted title, and steps, items,
//! gates, points or rows, whose plain numbers are no sections: spec olm-operator 3.1 step 1, 3.6.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::Workspace;
use crate::workspace::SourceFile;

/// The operators whose pages are cited.
const PAGES: [&str; 2] = ["olm-operator", "catalog-operator"];

/// Words after which a plain number is no section.
const PARTS: [&str; 10] =
    ["step", "steps", "item", "items", "gate", "gates", "point", "points", "row", "rows"];

/// Pages that say how to cite.
const HOW_TO_CITE: [&str; 2] = ["docs/spec/", "CONTRIBUTING.md"];

/// Citations of sections that do not exist, that name no operator, or that are no links in a page.
pub(super) fn dangling(workspace: &Workspace) -> Result<Vec<String>> {
    let known: BTreeMap<&str, BTreeSet<&str>> =
        PAGES.iter().filter_map(|page| Some((*page, anchors(page_of(workspace, page)?)))).collect();
    let missing = PAGES.iter().filter(|page| !known.contains_key(**page));
    let mut found: Vec<String> =
        missing.map(|page| format!("{}: there is no such page", path_of(page))).collect();
    for file in workspace.files.iter().filter(|file| is_cited_from(file)) {
        for citation in citations(&file.text) {
            let problem = citation.problem(&known).or_else(|| citation.unlinked(file));
            found.extend(problem.map(|text| format!("{}:{}: {text}", file.path, citation.line)));
        }
    }
    Ok(found)
}

fn is_cited_from(file: &SourceFile) -> bool {
    file.is_rust() || file.path.ends_with(".md")
}

fn path_of(page: &str) -> String {
    format!("docs/spec/{page}.md")
}

fn page_of<'a>(workspace: &'a Workspace, page: &str) -> Option<&'a str> {
    let path = path_of(page);
    workspace.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
}

/// The names that a page gives to its sections: `<a id="6.2"></a>`.
pub(super) fn anchors(text: &str) -> BTreeSet<&str> {
    text.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// One section that is cited.
#[derive(Debug, PartialEq, Eq)]
struct Citation<'a> {
    line: usize,
    /// The operator; absent where the citation names none.
    page: Option<&'a str>,
    section: &'a str,
}

impl Citation<'_> {
    fn problem(&self, known: &BTreeMap<&str, BTreeSet<&str>>) -> Option<String> {
        let Some(page) = self.page else {
            return Some(format!("\"spec {}\" names no operator", self.section));
        };
        let exists = known.get(page).is_none_or(|sections| sections.contains(self.section));
        (!exists).then(|| format!("{} has no section {}", path_of(page), self.section))
    }

    /// Why it should be a link.
    fn unlinked(&self, file: &SourceFile) -> Option<String> {
        let is_page = file.path.ends_with(".md");
        let is_example = HOW_TO_CITE.iter().any(|place| file.path.starts_with(place));
        let page = self.page.filter(|_| is_page && !is_example)?;
        Some(format!("a page cites with a link to {}#{}", path_of(page), self.section))
    }
}

/// The sections that a text cites.
fn citations(text: &str) -> Vec<Citation<'_>> {
    let words = words(text);
    let mut found = Vec::new();
    for (position, &(line, word)) in words.iter().enumerate() {
        if !word.trim_start_matches(OPENING).eq_ignore_ascii_case("spec") {
            continue;
        }
        let rest = words.get(position + 1..).unwrap_or_default();
        match rest.first() {
            Some(&(_, page)) if PAGES.contains(&page) => read(rest, &mut found),
            Some(&(_, number)) => {
                let sections = sections(number).into_iter().filter(|name| name.contains('.'));
                found.extend(sections.map(|section| Citation { line, page: None, section }));
            }
            None => {}
        }
    }
    found
}

/// What may stand before a word.
const OPENING: [char; 4] = ['(', '"', '`', '['];

/// The words of a text with the numbers of their lines, without the marks of comments.
fn words(text: &str) -> Vec<(usize, &str)> {
    let lines = (1..).zip(text.lines());
    let bare = lines.map(|(line, text)| {
        let text = text.trim_start();
        let comment = ["//!", "///", "//"].iter().find_map(|mark| text.strip_prefix(mark));
        (line, comment.unwrap_or(text))
    });
    bare.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word))).collect()
}

/// Adds the sections of a citation, whose first word is the name of an operator.
fn read<'a>(words: &[(usize, &'a str)], found: &mut Vec<Citation<'a>>) {
    let (mut page, mut in_part, mut in_title) = (None, false, false);
    for &(line, word) in words {
        let core = word.trim_end_matches([',', ';', '.', ':', ')', '"', '`', '\'']);
        if in_title || word.starts_with('"') {
            in_title = !word.trim_start_matches('"').contains('"');
        } else if let Some(name) = PAGES.iter().find(|name| **name == word) {
            (page, in_part) = (Some(*name), false);
        } else if PARTS.contains(&core) {
            in_part = true;
        } else if !["and", "to"].contains(&word) {
            let all = sections(core);
            if all.is_empty() {
                return;
            }
            let cited = all.into_iter().filter(|section| !in_part || section.contains('.'));
            found.extend(cited.map(|section| Citation { line, page, section }));
            in_part &= !core.contains('.');
        }
        if word.ends_with(['.', ')', ':']) {
            return;
        }
    }
}

/// The sections in a word: one, or both ends of `4.1-4.5`; none where it is no number.
fn sections(word: &str) -> Vec<&str> {
    let word = word.trim_end_matches([',', ';', '.', ':', ')', '"', '`']);
    let ends: Vec<&str> = word.split(['-', '–']).collect();
    let is_number = |end: &&str| {
        let mut parts = end.split('.');
        parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if ends.iter().all(is_number) { ends } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLM: &str = "spec olm-operator";

    fn cited(text: &str) -> Vec<(&str, &str)> {
        let all = citations(text).into_iter();
        all.map(|citation| (citation.page.unwrap_or("none"), citation.section)).collect()
    }

    #[test]
    fn every_form_is_read() {
        let olm = |text: &str| {
            let text = format!("//! Rules ({OLM} {text}");
            let all: Vec<String> =
                cited(&text).iter().map(|(_, name)| (*name).to_owned()).collect();
            all.join(" ")
        };
        assert_eq!(olm("2)."), "2");
        assert_eq!(olm("6.1, 6.2, 8.30). The 7 rows"), "6.1 6.2 8.30");
        assert_eq!(olm("4.1-4.5)"), "4.1 4.5");
        assert_eq!(olm("1.3 to 1.5 and 1.7): a"), "1.3 1.5 1.7");
        assert_eq!(olm("1.4 gate 1, 1.8)"), "1.4 1.8");
        assert_eq!(olm("2.3, steps 8 and 9)"), "2.3");
        assert_eq!(olm("9.1, rows R1 to R35)"), "9.1");
        assert_eq!(olm("0.1 \"Ownership helpers\", 0.3)"), "0.1 0.3");
        assert_eq!(olm("8 that are about 2 groups"), "8");
    }

    #[test]
    fn a_citation_goes_on_in_the_next_line_and_with_the_other_operator() {
        let text =
            format!("/// Why (Spec\n/// catalog-operator 0.1,\n{}", "/// olm-operator 0.2).");
        assert_eq!(cited(&text), [("catalog-operator", "0.1"), ("olm-operator", "0.2")]);
        assert_eq!(citations(&text)[1].line, 3);
        let none: [(&str, &str); 0] = [];
        assert_eq!(cited("let spec = 1.5; // the spec says 2.3"), none);
    }

    #[test]
    fn what_does_not_exist_is_found() {
        let file = |path: &str, text: String| SourceFile { path: path.into(), text };
        let code = format!("// {OLM} 6.2, 6.9\n// {} 9.7\n", "spec");
        let files = vec![
            file("docs/spec/olm-operator.md", "<a id=\"6.2\"></a>\n## 6.2 Adoption\n".to_owned()),
            file("olm-kit/src/a.rs", code),
            file("docs/install.md", format!("As in {OLM} 6.2.\n")),
            file("CONTRIBUTING.md", format!("Code cites \"{OLM} 6.2\".\n")),
        ];
        let found = dangling(&Workspace { files, packages: BTreeMap::new() }).unwrap();
        let expected = [
            "docs/spec/catalog-operator.md: there is no such page".to_owned(),
            "olm-kit/src/a.rs:1: docs/spec/olm-operator.md has no section 6.9".to_owned(),
            format!("olm-kit/src/a.rs:2: \"{} 9.7\" names no operator", "spec"),
            "docs/install.md:1: a page cites with a link to docs/spec/olm-operator.md#6.2"
                .to_owned(),
        ];
        assert_eq!(found, expected);
    }
}
