//! The figures as a table for people.

use super::all;
use super::measure::Crate;

/// A row for each crate, and one for all of them.
pub(super) fn of(crates: &[Crate]) -> String {
    let mut text = format!(
        "{:<20} {:>7} {:>7}   {:>14}   {:>14}   {:>8}\n",
        "lines", "code", "tests", "file med/max", "fn med/max", "not doc."
    );
    let sum = all(crates);
    for one in crates.iter().chain([&sum]) {
        let (files, functions) = (spread(&one.files), spread(&one.functions));
        text += &format!(
            "{:<20} {:>7} {:>7}   {files:>14}   {functions:>14}   {:>8}\n",
            one.name,
            one.code,
            one.tests,
            one.undocumented.len(),
        );
    }
    text += &longest("file", &sum.files);
    text += &longest("function", &sum.functions);
    text
}

/// Median and maximum.
fn spread(measured: &[(usize, String)]) -> String {
    let mut lines: Vec<usize> = measured.iter().map(|(lines, _)| *lines).collect();
    lines.sort_unstable();
    match (lines.get(lines.len() / 2), lines.last()) {
        (Some(median), Some(most)) => format!("{median} / {most}"),
        _ => "-".to_owned(),
    }
}

fn longest(what: &str, measured: &[(usize, String)]) -> String {
    let Some((lines, place)) = measured.iter().max() else { return String::new() };
    format!("longest {what}: {place}, {lines} lines\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_sums_up() {
        let sized = |name: &str, lines: usize| Crate {
            name: name.to_owned(),
            code: lines,
            files: vec![(lines, format!("{name}/src/lib.rs"))],
            ..Crate::default()
        };
        let text = of(&[sized("a", 10), sized("b", 30)]);
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[3][..6], ["all", "40", "0", "30", "/", "30"]);
        assert_eq!(rows[4].join(" "), "longest file: b/src/lib.rs, 30 lines");
    }
}
