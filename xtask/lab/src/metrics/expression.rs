//! Which metrics a query reads. Enough of PromQL for our own alerts and dashboards: what is neither a
//! function, a keyword, a label, a text, a number nor a duration is the name of a metric.

use std::collections::BTreeSet;

/// Words that stand between metrics, or before a list of labels.
const KEYWORDS: [&str; 14] = [
    "and",
    "bool",
    "by",
    "group_left",
    "group_right",
    "ignoring",
    "inf",
    "nan",
    "offset",
    "on",
    "or",
    "unless",
    "without",
    "atan2",
];

/// Those before a list of labels.
const BEFORE_LABELS: [&str; 6] = ["by", "group_left", "group_right", "ignoring", "on", "without"];

/// Names of the metrics in a query.
pub(super) fn metrics(query: &str) -> BTreeSet<String> {
    let text = without_texts(query);
    let mut found = BTreeSet::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| is_first(c) || c.is_ascii_digit()) {
        rest = rest.get(start..).unwrap_or_default();
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        if BEFORE_LABELS.contains(&word) {
            rest = behind_list(rest);
        } else if is_metric(word, behind) {
            found.insert(word.to_owned());
        }
    }
    found
}

/// A number or a duration begins with a digit, a function is followed by a parenthesis.
fn is_metric(word: &str, behind: &str) -> bool {
    let keyword = KEYWORDS.contains(&word.to_ascii_lowercase().as_str());
    // Aggregations may name their labels first: `sum by (x) (…)`.
    let aggregation = behind.trim_start().split(|c: char| !is_part(c)).next().unwrap_or_default();
    let function = behind.trim_start().starts_with('(') || ["by", "without"].contains(&aggregation);
    word.starts_with(is_first) && !keyword && !function
}

/// What is behind a list in parentheses, if there is one.
fn behind_list(text: &str) -> &str {
    let trimmed = text.trim_start();
    let list = trimmed.strip_prefix('(').and_then(|inside| inside.split_once(')'));
    list.map_or(text, |(_, behind)| behind)
}

/// The query without quoted texts, matchers of labels, and ranges.
fn without_texts(query: &str) -> String {
    let (mut kept, mut quote, mut depth) = (String::new(), None, 0_usize);
    let mut characters = query.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(_), '\\') => drop(characters.next()),
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, c) if depth == 0 => kept.push(c),
            (None, _) => {}
        }
    }
    kept
}

fn is_first(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == ':'
}

fn is_part(c: char) -> bool {
    is_first(c) || c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("up", &["up"])]
    #[case("sum by (namespace) (increase(a_total{x=\"b_total\"}[5m])) > 0", &["a_total"])]
    #[case("max(a) by (job, name) - time() < 12 * 3600", &["a"])]
    #[case("a and on (job, instance) b{name=~\"x|y\"} == 1", &["a", "b"])]
    #[case("absent(a{n=\"}\"}) or absent(b)", &["a", "b"])]
    #[case("histogram_quantile(0.99, sum by (le) (rate(a_bucket[$__rate_interval])))", &["a_bucket"])]
    #[case("a offset 5m unless bool_total", &["a", "bool_total"])]
    #[case("sum without (le) (a) / ignoring (x) group_left (y) b", &["a", "b"])]
    #[case("1e3 + 5", &[])]
    #[case("last_over_time(a{phase=\"Failed\\\"}\"}[5m])", &["a"])]
    fn names_are_found(#[case] query: &str, #[case] expected: &[&str]) {
        let expected = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(metrics(query), expected);
    }
}
