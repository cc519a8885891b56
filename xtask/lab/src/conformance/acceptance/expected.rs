//! Specs that are not run, and specs that want what ours do in another way on purpose.

/// Specs that are not run: a part of the name, with those of what contains it, and why.
pub(super) const NOT_RUN: [(&str, &str); 1] = [(
    "when an InstallPlan step contains a deprecated resource version",
    "wants a kind `Deprecated` that OLM v0 supports only when it is built with the tag e2e",
)];

/// Specs that fail: a part of the name, and the subject of the row of docs/differences.md that says what
/// ours do instead.
pub(super) const DIFFERENCES: [(&str, &str); 2] = [
    // With `--unhealthy-catalogs=block` it passes.
    (
        "Global Catalog Exclusion when a subscription referring to the local catalog is created",
        "a catalog that cannot be used",
    ),
    // It waits for a write of its own for each of two components that are labelled at once.
    (
        "Operator API should surface components in its status",
        "when the status of an Operator lists its components",
    ),
];

/// The second part of the entry whose first part is in a name.
pub(super) fn find<'a>(entries: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    entries.iter().find(|(part, _)| name.contains(part)).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_has_a_row() {
        let page = include_str!("../../../../../docs/differences.md");
        for (spec, subject) in DIFFERENCES {
            let row = format!("\n| {subject} |");
            assert!(page.contains(&row), "{spec}: docs/differences.md has no row {subject:?}");
        }
    }
}
