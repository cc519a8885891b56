//! What is measured, and how it is printed.

use serde::Deserialize;

/// What is read off a program.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Figures {
    /// From the start without an index to the first answer, in seconds.
    pub(super) cold: f64,
    /// From the start with an index to the first answer, in seconds.
    pub(super) warm: f64,
    /// Most resident memory up to the end of a listing, in MiB.
    pub(super) peak: f64,
    /// Memory that belongs to no file after a listing, in MiB.
    pub(super) anonymous: f64,
    /// Listing, in MiB per second.
    pub(super) listing: f64,
    /// Single bundles per second, of several callers at the same time; the server has one processor.
    pub(super) getting: f64,
    /// Single bundles per second that the server computes.
    pub(super) getting_computed: f64,
}

/// One line of the table.
struct Row {
    name: &'static str,
    value: fn(&Figures) -> f64,
    more_is_better: bool,
    /// How many times better ours is to be over a catalog of a usual size.
    wanted: Option<f64>,
}

const ROWS: [Row; 7] = [
    less("cold start to first answer, s", |figures| figures.cold, Some(10.0)),
    less("warm start to first answer, s", |figures| figures.warm, Some(50.0)),
    less("peak memory, MiB", |figures| figures.peak, Some(8.0)),
    less("anonymous memory, MiB", |figures| figures.anonymous, None),
    more("ListBundles, MiB/s", |figures| figures.listing),
    more("GetBundle, calls/s on one processor", |figures| figures.getting),
    more("GetBundle, calls per CPU second", |figures| figures.getting_computed),
];

const fn less(name: &'static str, value: fn(&Figures) -> f64, wanted: Option<f64>) -> Row {
    Row { name, value, more_is_better: false, wanted }
}

/// A throughput: three times as much is wanted.
const fn more(name: &'static str, value: fn(&Figures) -> f64) -> Row {
    Row { name, value, more_is_better: true, wanted: Some(3.0) }
}

impl Row {
    /// How many times better the first is.
    fn ratio(&self, ours: &Figures, opm: &Figures) -> f64 {
        let (ours, opm) = ((self.value)(ours), (self.value)(opm));
        if self.more_is_better { ours / opm } else { opm / ours }
    }

    fn verdict(&self, ratio: f64) -> String {
        match self.wanted {
            Some(wanted) if ratio >= wanted => format!("  wanted {wanted}x: yes"),
            Some(wanted) => format!("  wanted {wanted}x: TOO LITTLE"),
            None => String::new(),
        }
    }
}

impl Figures {
    /// The median of every figure by itself.
    pub(super) fn median(rounds: &[Self]) -> Self {
        let median = |of: fn(&Self) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        Self {
            cold: median(|figures| figures.cold),
            warm: median(|figures| figures.warm),
            peak: median(|figures| figures.peak),
            anonymous: median(|figures| figures.anonymous),
            listing: median(|figures| figures.listing),
            getting: median(|figures| figures.getting),
            getting_computed: median(|figures| figures.getting_computed),
        }
    }
}

/// Prints both, and how many times better ours is; says for each whether that is as wanted.
pub(super) fn print(ours: &Figures, opm: &Figures) {
    println!("{:<36} {:>12} {:>12} {:>8}", "median", "olm-registry", "opm", "ratio");
    for row in &ROWS {
        let (left, right) = ((row.value)(ours), (row.value)(opm));
        let ratio = row.ratio(ours, opm);
        let verdict = row.verdict(ratio);
        println!("{:<36} {left:>12.3} {right:>12.3} {ratio:>7.1}x{verdict}", row.name);
    }
}

/// Whether every figure is as wanted.
pub(super) fn are_as_wanted(ours: &Figures, opm: &Figures) -> bool {
    let reaches = |row: &Row| row.wanted.is_none_or(|wanted| row.ratio(ours, opm) >= wanted);
    ROWS.iter().all(reaches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_leaves_outliers_out() {
        let round = |cold| Figures { cold, ..Figures::default() };
        let median = Figures::median(&[round(9.0), round(1.0), round(2.0)]);
        assert!((median.cold - 2.0).abs() < f64::EPSILON);
    }

    #[test]
    fn one_ratio_below_what_is_wanted_is_seen() {
        let all = |value| Figures {
            cold: value,
            warm: value,
            peak: value,
            anonymous: value,
            listing: 1.0 / value,
            getting: 1.0 / value,
            getting_computed: 1.0 / value,
        };
        let (ours, opm) = (all(1.0), all(60.0));
        assert!(are_as_wanted(&ours, &opm));
        assert!(ROWS.iter().all(|row| !row.verdict(row.ratio(&ours, &opm)).contains("TOO")));
        let slower = Figures { getting: 0.04, ..ours };
        assert!(!are_as_wanted(&slower, &opm));
        let verdicts = ROWS.iter().map(|row| row.verdict(row.ratio(&slower, &opm)));
        assert_eq!(verdicts.filter(|verdict| verdict.contains("TOO LITTLE")).count(), 1);
    }
}
