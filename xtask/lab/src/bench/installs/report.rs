//! The table: what each took, beside what is wanted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::floor::Floor;
use super::play::Played;
use super::writes::Statuses;

/// How much longer than the floor an install may take.
const TIMES_THE_FLOOR: f64 = 1.5;

/// A figure of each implementation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    name: String,
    unit: &'static str,
    v0: Option<f64>,
    ours: f64,
    /// The most that is wanted of ours.
    wanted: Option<f64>,
}

/// A figure, of what was played.
struct Figure {
    name: &'static str,
    unit: &'static str,
    wanted: Option<f64>,
    of: fn(&Played) -> f64,
}

const fn figure(
    name: &'static str,
    unit: &'static str,
    wanted: Option<f64>,
    of: fn(&Played) -> f64,
) -> Figure {
    Figure { name, unit, wanted, of }
}

/// What both have.
const FIGURES: [Figure; 23] = [
    figure("until all CSVs are Succeeded", "s", Some(5.0), |played| seconds(played.installed)),
    figure("CPU of both operators", "s", Some(0.7), |played| seconds(played.processor_time)),
    figure("writes of all callers", "", Some(800.0), |played| count(played.writes.all)),
    figure("writes of both operators", "", None, |played| count(played.writes.own)),
    figure("writes in the silence after that", "", Some(0.0), |played| sum(&played.afterwards)),
    figure("conflicts of both operators", "", None, |played| count(played.writes.conflicts)),
    figure("of these with an own write", "", Some(0.0), |played| count(played.own_conflicts)),
    figure("status of copies, writes", "", None, |played| count(played.writes.copies.writes)),
    figure("status of copies, most of one", "", Some(1.0), |played| most(played.writes.copies)),
    figure("status of CSVs, writes", "", None, |played| count(played.writes.csvs.writes)),
    figure("status of CSVs, most of one", "", Some(7.0), |played| most(played.writes.csvs)),
    figure("status of Operators, writes", "", None, |played| count(played.writes.operators.writes)),
    figure("status of Operators, most of one", "", Some(3.0), |played| {
        most(played.writes.operators)
    }),
    figure("CRDs written again", "", Some(0.0), |played| count(played.writes.definitions_again)),
    figure("other objects written again", "", Some(0.0), |played| {
        count(played.writes.objects_again)
    }),
    figure("RSS idle, olm-operator", "MB", Some(20.0), |played| {
        megabytes(&played.idle.resident, 0)
    }),
    figure("RSS idle, olm-operator, anonymous", "MB", None, |played| {
        megabytes(&played.idle.anonymous, 0)
    }),
    figure("RSS idle, catalog-operator", "MB", Some(20.0), |played| {
        megabytes(&played.idle.resident, 1)
    }),
    figure("RSS idle, catalog-operator, anonymous", "MB", None, |played| {
        megabytes(&played.idle.anonymous, 1)
    }),
    figure("RSS after, olm-operator", "MB", Some(30.0), |played| {
        megabytes(&played.after.resident, 0)
    }),
    figure("RSS after, olm-operator, anonymous", "MB", None, |played| {
        megabytes(&played.after.anonymous, 0)
    }),
    figure("RSS after, catalog-operator", "MB", Some(30.0), |played| {
        megabytes(&played.after.resident, 1)
    }),
    figure("RSS after, catalog-operator, anonymous", "MB", None, |played| {
        megabytes(&played.after.anonymous, 1)
    }),
];

/// All figures.
pub(super) fn rows(ours: &Played, v0: Option<&Played>, floor: &Floor) -> Vec<Row> {
    let mut rows: Vec<Row> = FIGURES
        .iter()
        .map(|figure| Row {
            name: figure.name.to_owned(),
            unit: figure.unit,
            v0: v0.map(figure.of),
            ours: (figure.of)(ours),
            wanted: figure.wanted,
        })
        .collect();
    let times = |played: &Played| seconds(played.installed) / seconds(floor.ready);
    rows.insert(
        1,
        Row {
            name: format!("the same, times the floor of {:.2} s", seconds(floor.ready)),
            unit: "",
            v0: v0.map(times),
            ours: times(ours),
            wanted: Some(TIMES_THE_FLOOR),
        },
    );
    // v0 does not say what it resolves.
    let name = "lines `resolved` in the log".to_owned();
    rows.push(Row { name, unit: "", v0: None, ours: count(ours.resolved), wanted: Some(5.0) });
    rows
}

/// Whether nothing is above what is wanted.
pub(super) fn is_within(rows: &[Row]) -> bool {
    rows.iter().all(Row::is_within)
}

impl Row {
    fn is_within(&self) -> bool {
        self.wanted.is_none_or(|wanted| self.ours <= wanted)
    }
}

/// The rows as text; what is wanted is said only where it can be held against them.
pub(super) fn table(rows: &[Row], with_wanted: bool) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
    let mut text = format!("{:<width$}  {:>10} {:>10} {:>10}\n", "", "v0", "ours", "wanted");
    for row in rows {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), rounded);
        let wanted = row.wanted.filter(|_| with_wanted);
        let verdict = if with_wanted && !row.is_within() { "TOO MUCH" } else { "" };
        let (v0, ours, wanted) = (number(row.v0), rounded(row.ours), number(wanted));
        let line = format!(
            "{:<width$}  {v0:>10} {ours:>10} {wanted:>10} {:<3} {verdict}",
            row.name, row.unit
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Who wrote what how often, most first; what was refused, and what was written when nothing should be.
pub(super) fn tally(played: &Played) -> String {
    let mut text = format!("writes, with {}:\n", played.title);
    let mut counts: Vec<(&String, &usize)> = played.tally.iter().collect();
    counts.sort_by_key(|(what, count)| (std::cmp::Reverse(**count), *what));
    for (what, count) in counts {
        let _ = writeln!(text, "{count:>6}  {what}");
    }
    for (title, others) in [("refused", &played.conflicts), ("late", &played.afterwards)] {
        for (what, count) in others {
            let _ = writeln!(text, "{count:>6}  {what}, {title}");
        }
    }
    text
}

fn rounded(value: f64) -> String {
    match value.fract().abs() < f64::EPSILON {
        true => format!("{value:.0}"),
        false => format!("{value:.2}"),
    }
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

fn most(statuses: Statuses) -> f64 {
    count(statuses.most)
}

fn sum(tally: &BTreeMap<String, usize>) -> f64 {
    count(tally.values().sum())
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

fn megabytes(bytes: &[u64], operator: usize) -> f64 {
    let kibibytes = bytes.get(operator).map(|bytes| bytes / 1024);
    kibibytes
        .and_then(|kib| u32::try_from(kib).ok())
        .map_or(f64::NAN, |kib| f64::from(kib) * 1.024e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(v0: Option<f64>, ours: f64, wanted: Option<f64>) -> Row {
        Row { name: "writes".to_owned(), unit: "", v0, ours, wanted }
    }

    #[test]
    fn what_is_above_what_is_wanted_is_marked() {
        let rows =
            [row(Some(9.0), 3.0, Some(5.0)), row(None, 6.25, Some(5.0)), row(None, 7.0, None)];
        assert!(is_within(&rows[..1]) && is_within(&rows[2..]) && !is_within(&rows));
        let text = table(&rows, true);
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            lines,
            [
                vec!["v0", "ours", "wanted"],
                vec!["writes", "9", "3", "5"],
                vec!["writes", "-", "6.25", "5", "TOO", "MUCH"],
                vec!["writes", "-", "7", "-"],
            ]
        );
        let sample = table(&rows, false);
        assert!(!sample.contains("TOO MUCH"), "nothing is wanted of a sample:\n{sample}");
    }

    #[test]
    fn bytes_are_megabytes_of_a_million() {
        assert!((megabytes(&[0, 20_000 * 1024], 1) - 20.48).abs() < 1e-9);
        assert!(megabytes(&[], 0).is_nan());
    }
}
