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

/// Name, value, and whether more is better.
type Row = (&'static str, fn(&Figures) -> f64, bool);

const ROWS: [Row; 7] = [
    ("cold start to first answer, s", |figures| figures.cold, false),
    ("warm start to first answer, s", |figures| figures.warm, false),
    ("peak memory, MiB", |figures| figures.peak, false),
    ("anonymous memory, MiB", |figures| figures.anonymous, false),
    ("ListBundles, MiB/s", |figures| figures.listing, true),
    ("GetBundle, calls/s on one processor", |figures| figures.getting, true),
    ("GetBundle, calls per CPU second", |figures| figures.getting_computed, true),
];

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

/// Prints both, and how many times better ours is.
pub(super) fn print(ours: &Figures, opm: &Figures) {
    println!("{:<36} {:>12} {:>12} {:>8}", "median", "olm-registry", "opm", "ratio");
    for (name, value, more_is_better) in ROWS {
        let (ours, opm) = (value(ours), value(opm));
        let ratio = if more_is_better { ours / opm } else { opm / ours };
        println!("{name:<36} {ours:>12.3} {opm:>12.3} {ratio:>7.1}x");
    }
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
}
