//! Which scenarios are played.

use anyhow::{Result, bail};
use olm_testkit::e2e::Scenario;

/// How many names are suggested for one that is not there.
const SUGGESTIONS: usize = 3;

/// The scenarios with this in their names; all of them without it.
///
/// # Errors
///
/// When there is none; the message suggests names that look like it.
pub(super) fn select(mut all: Vec<Scenario>, focus: Option<&str>) -> Result<Vec<Scenario>> {
    let Some(focus) = focus else { return Ok(all) };
    if all.iter().any(|scenario| scenario.name.contains(focus)) {
        all.retain(|scenario| scenario.name.contains(focus));
        return Ok(all);
    }
    let names: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
    let near = nearest(&names, focus).join(", ");
    bail!("no scenario has {focus:?} in its name; near it are {near} (--list names all)")
}

/// The names that look most like a word, as a whole or in one of their parts.
fn nearest<'a>(names: &[&'a str], word: &str) -> Vec<&'a str> {
    let likeness = |name: &&str| {
        let parts = name.split("::").chain([*name]);
        parts.map(|part| distance(part, word)).min().unwrap_or(usize::MAX)
    };
    let mut sorted = names.to_vec();
    sorted.sort_by_key(likeness);
    sorted.truncate(SUGGESTIONS);
    sorted
}

/// How many letters have to be put in, taken out or exchanged to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((b, pair), left) in other.iter().zip(row.windows(2)).zip(i + 1..) {
            let [diagonal, above] = pair else { continue };
            let left = next.last().copied().unwrap_or(left);
            let exchanged = diagonal + usize::from(a != *b);
            next.push(exchanged.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use olm_testkit::e2e::scenarios;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "abc", 3)]
    #[case("abc", "abc", 0)]
    #[case("kitten", "sitting", 3)]
    #[case("flaw", "lawn", 2)]
    fn distance_counts_letters(#[case] one: &str, #[case] other: &str, #[case] expected: usize) {
        assert_eq!(distance(one, other), expected);
        assert_eq!(distance(other, one), expected);
    }

    #[test]
    fn a_part_of_a_name_selects() {
        let selected = select(scenarios::all(), Some("upgrades::")).unwrap();
        assert!(selected.len() > 1);
        assert!(selected.iter().all(|scenario| scenario.name.starts_with("upgrades::")));
        assert_eq!(select(scenarios::all(), None).unwrap().len(), scenarios::all().len());
    }

    #[test]
    fn an_unknown_name_is_refused_with_names_that_look_like_it() {
        let error = select(scenarios::all(), Some("instal::an_operater")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("\"instal::an_operater\""), "{text}");
        assert!(text.contains("install::an_operator"), "{text}");
        let error = select(scenarios::all(), Some("smoek")).unwrap_err();
        assert!(error.to_string().contains("smoke::"), "{error}");
    }
}
