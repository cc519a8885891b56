//! Names, comments, messages and pages use the words of Kubernetes, and those that it does not know
//! stay out.
//!
//! A name counts by its parts: `WishList` and `wish_list` both hold `wish`.

use anyhow::Result;

use super::Workspace;
use crate::workspace::SourceFile;

/// Words that are not used, and what to say in their place.
const WORDS: [(&[&str], &str); 19] = [
    (&["wish", "wishes", "wished"], "the Subscription, the desired state, the request"),
    (&["somebody"], "the actor: a user, another owner, a caller"),
    (&["nobody"], "what is not done, or the actor that does not do it"),
    (&["told", "tell", "tells", "telling", "untold"], "reported, says, notified, configured"),
    (&["settle", "settled", "settles", "settling", "unsettled"], "converged, done, unchanged"),
    (&["crowd", "crowded"], "many, load, namespaces"),
    (&["slate"], "baseline, candidates"),
    (&["newcomer", "newcomers"], "the new CSV, the new operator"),
    (&["guests"], "what they are"),
    (&["upkeep"], "maintenance"),
    (&["candidacy"], "participant of an election"),
    (&["companion", "companions"], "related objects"),
    (&["trouble", "troubles", "troubled"], "problem, unhealthy"),
    (&["standing"], "state, condition"),
    (&["everybody", "anybody", "everybodys", "anybodys"], "every user, all callers"),
    (&["doubt", "doubts", "doubted", "doubtful"], "unconfirmed, checked"),
    (&["room", "rooms"], "memory, capacity, limit, folder"),
    (&["succession", "handover", "heir"], "replacement, upgrade, successor"),
    (&["revival", "revivals"], "retry"),
];

/// The same for several words in a row.
const PHRASES: [(&str, &str); 3] = [
    ("be had", "available, unavailable, served"),
    ("brought back", "created again, requeued"),
    ("takes along", "removes with it"),
];

/// What no struct, enum or trait is called: alone these words do not say what a value is.
const TYPES: [&str; 44] = [
    "Ask",
    "Asked",
    "Asking",
    "Bad",
    "Before",
    "Beside",
    "Brought",
    "Census",
    "Course",
    "Cut",
    "Desk",
    "Effort",
    "Fate",
    "Happened",
    "Heard",
    "Here",
    "Honest",
    "Kept",
    "Kitchen",
    "Leave",
    "Ledger",
    "Like",
    "Look",
    "Looked",
    "Lost",
    "Made",
    "Moment",
    "Most",
    "Offered",
    "Pace",
    "Place",
    "Said",
    "Scene",
    "Seen",
    "Shelf",
    "Special",
    "Standpoint",
    "Stretch",
    "Thing",
    "Things",
    "Twins",
    "Way",
    "What",
    "Who",
];

/// Where a word may stand, by the beginning of a path, and the word: texts that ship with another
/// file, and quotations.
const PERMITTED: [(&str, &str); 7] = [
    // The list itself.
    ("xtask/src/tidy/words.rs", ""),
    // Descriptions in the CRDs of deploy/crds.
    ("olm-types/src/api/crd/kinds.rs", "wish"),
    ("olm-types/src/api/crd/kinds.rs", "tells"),
    ("olm-types/src/api/subscription.rs", "wish"),
    // Reasons of permissions, which are comments of deploy/base/rbac.yaml.
    ("olm-testkit/src/rights/", ""),
    // What kustomize is made to do; a file beside the manifests.
    ("deploy/README.md", "tells"),
    // The name of a step in the recordings of OLM v0.
    ("xtask/lab/src/conformance/objects/actions.rs", "settled"),
];

/// Types with a name that does not say what they are.
pub(super) fn vague_types(workspace: &Workspace) -> Result<Vec<String>> {
    let rust = workspace.files.iter().filter(|file| file.is_rust() && !file.is_generated());
    let vague = rust.flat_map(|file| {
        let numbered = file.text.lines().zip(1..);
        let types = numbered.filter_map(|(line, number)| Some((defined_type(line)?, number)));
        let found = types.filter(|(name, _)| TYPES.contains(name));
        found.map(move |(name, number)| format!("{}:{number}: {name}", file.path))
    });
    Ok(vague.collect())
}

/// The name of the type whose definition begins on a line.
fn defined_type(line: &str) -> Option<&str> {
    let mut words =
        line.split_whitespace().skip_while(|word| word.starts_with("pub") || word.ends_with(')'));
    let is_definition = matches!(words.next()?, "struct" | "enum" | "trait");
    let name = words.next().filter(|_| is_definition)?;
    name.split(|letter: char| !letter.is_alphanumeric()).next()
}

/// Lines with a word that is not used.
pub(super) fn unusual(workspace: &Workspace) -> Result<Vec<String>> {
    let checked =
        workspace.files.iter().filter(|file| file.is_rust() || file.path.ends_with(".md"));
    Ok(checked.flat_map(unusual_lines).collect())
}

fn unusual_lines(file: &SourceFile) -> impl Iterator<Item = String> + '_ {
    let found = file.text.lines().zip(1..).filter_map(|(line, number)| {
        let (word, instead) = unusual_in(line)?;
        (!is_permitted(&file.path, word)).then_some((number, word, instead))
    });
    found.map(|(number, word, instead)| {
        format!("{}:{number}: {word}; say instead: {instead}", file.path)
    })
}

/// The first word or phrase of a line that is not used, and what to say instead.
fn unusual_in(line: &str) -> Option<(&'static str, &'static str)> {
    let parts = parts(line);
    let words =
        WORDS.iter().flat_map(|(words, instead)| words.iter().map(|word| (*word, *instead)));
    let mut words = words.filter(|(word, _)| parts.iter().any(|part| part == word));
    let phrase = || PHRASES.iter().copied().find(|(phrase, _)| line.contains(phrase));
    words.next().or_else(phrase)
}

/// The words of a line in lower case, names taken apart.
fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        if !letter.is_alphabetic() || (letter.is_uppercase() && before.is_lowercase()) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| letter.is_alphabetic()) {
            part.extend(letter.to_lowercase());
        }
        before = letter;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn is_permitted(path: &str, word: &str) -> bool {
    let fits = |(place, permitted): &&(&str, &str)| {
        path.starts_with(place) && (permitted.is_empty() || *permitted == word)
    };
    PERMITTED.iter().find(fits).is_some()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.into(), text: text.into() };
        unusual(&Workspace { files: vec![file], packages: Default::default() }).unwrap()
    }

    #[rstest]
    #[case::sentence("/// What somebody changed.", "somebody")]
    #[case::beginning("/// Somebody else leads.", "somebody")]
    #[case::variable("    let wish = 1;", "wish")]
    #[case::function("fn a_failure_is_told_once() {", "told")]
    #[case::type_("struct LookupStanding;", "standing")]
    #[case::constant("const WISHES: usize = 4;", "wishes")]
    #[case::path("use super::crowd::Home;", "crowd")]
    #[case::phrase("/// The image cannot be had.", "be had")]
    fn a_word_is_found_in_names_and_sentences(#[case] line: &str, #[case] word: &str) {
        let found = found("olm-kit/src/a.rs", &format!("//! Header.\n{line}\n"));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert!(one.starts_with(&format!("olm-kit/src/a.rs:2: {word}; say instead: ")), "{one}");
    }

    #[rstest]
    #[case::private("struct Seen;", 1)]
    #[case::public("    pub(in super::super) enum What<'a> {", 1)]
    #[case::variant("    Seen,", 0)]
    #[case::longer("pub struct SeenImages(u8);", 0)]
    #[case::use_("use super::Seen;", 0)]
    fn a_type_says_what_it_is(#[case] line: &str, #[case] found: usize) {
        let text = format!("//! Header.\n{line}\n");
        let file = SourceFile { path: "olm-kit/src/a.rs".into(), text };
        let workspace = Workspace { files: vec![file], packages: Default::default() };
        assert_eq!(vague_types(&workspace).unwrap().len(), found);
    }

    #[test]
    fn longer_words_and_permitted_places_are_spared() {
        assert_eq!(found("README.md", "Translated, outstanding, a guestbook, stellar.\n"), [""; 0]);
        assert_eq!(found("olm-types/src/api/crd/kinds.rs", "\"The wish to have\"\n"), [""; 0]);
        assert_eq!(found("olm-types/src/api/crd/kinds.rs", "// somebody\n").len(), 1);
        assert_eq!(found("deploy/crds/a.yaml", "description: The wish to have\n"), [""; 0]);
    }
}
