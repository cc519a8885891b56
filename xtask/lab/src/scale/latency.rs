//! How long the operators take, by their own histograms: p50 and p99 of what happened between two
//! looks.

use std::collections::BTreeMap;

use anyhow::Result;
use olm_testkit::operators::Operator;

use super::setup::Setup;
use super::table::Table;

/// Reconciles, by controller.
const RECONCILES: (&str, &str) = ("workqueue_work_duration_seconds", "name");

/// Resolutions, by outcome.
const RESOLUTIONS: (&str, &str) = ("olm_resolution_latency_seconds", "outcome");

/// Observations per upper bound, each with those below it, by a label.
type Histograms = BTreeMap<String, Vec<(f64, f64)>>;

/// What was measured so far.
pub(super) struct Latency {
    before: Vec<(Operator, &'static str, Histograms)>,
}

impl Latency {
    /// Begins to measure.
    pub(super) async fn begin(setup: &Setup) -> Result<Self> {
        Ok(Self { before: look(setup).await? })
    }

    /// Adds a row for each controller that worked since then, and for resolutions.
    pub(super) async fn end(self, setup: &Setup, table: &mut Table) -> Result<()> {
        let now = look(setup).await?;
        for ((operator, what, before), (_, _, after)) in self.before.into_iter().zip(now) {
            for (label, buckets) in after {
                let since = match before.get(&label) {
                    Some(earlier) => difference(&buckets, earlier),
                    None => buckets,
                };
                let (Some(half), Some(most)) = (quantile(0.5, &since), quantile(0.99, &since))
                else {
                    continue;
                };
                let times = format!("{} / {} of {}", shown(half), shown(most), count(&since));
                table.free(&format!("{operator}, {what} {label}, p50 / p99"), times);
            }
        }
        Ok(())
    }
}

async fn look(setup: &Setup) -> Result<Vec<(Operator, &'static str, Histograms)>> {
    let mut all = Vec::new();
    for operator in Operator::ALL {
        let text = setup.metrics(operator).await?;
        all.push((operator, "reconcile", histograms(&text, RECONCILES)));
        all.push((operator, "resolution", histograms(&text, RESOLUTIONS)));
    }
    Ok(all)
}

/// The histograms of a family, of metrics in text form.
fn histograms(metrics: &str, (family, label): (&str, &str)) -> Histograms {
    let start = format!("{family}_bucket{{");
    let mut found = Histograms::new();
    for line in metrics.lines().filter_map(|line| line.strip_prefix(&start)) {
        let read = || {
            let (labels, value) = line.rsplit_once("} ")?;
            let text = |name: &str| labels.split(',').find_map(|pair| quoted(pair, name));
            let bound = text("le")?.parse().ok()?;
            Some((text(label)?.to_owned(), (bound, value.parse().ok()?)))
        };
        if let Some((value, bucket)) = read() {
            found.entry(value).or_default().push(bucket);
        }
    }
    found
}

fn quoted<'a>(pair: &'a str, name: &str) -> Option<&'a str> {
    pair.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"')
}

fn difference(after: &[(f64, f64)], before: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let pairs = after.iter().zip(before);
    pairs.map(|((bound, now), (_, then))| (*bound, now - then)).collect()
}

fn count(buckets: &[(f64, f64)]) -> f64 {
    buckets.last().map_or(0.0, |(_, count)| *count)
}

/// As Prometheus' `histogram_quantile` has it: even within a bucket. Nothing when nothing was
/// observed.
fn quantile(share: f64, buckets: &[(f64, f64)]) -> Option<f64> {
    let wanted = share * count(buckets);
    let at = buckets.iter().position(|(_, below)| *below >= wanted && *below > 0.0)?;
    let (bound, below) = *buckets.get(at)?;
    let (floor, under) = match at.checked_sub(1) {
        Some(before) => *buckets.get(before)?,
        None => (0.0, 0.0),
    };
    if bound.is_infinite() || below <= under {
        return Some(floor);
    }
    Some(floor + (bound - floor) * (wanted - under) / (below - under))
}

fn shown(seconds: f64) -> String {
    match seconds {
        short if short < 1.0 => format!("{:.1} ms", short * 1000.0),
        long => format!("{long:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
        a_seconds_bucket{name=\"csv\",le=\"0.1\"} 50\n\
        a_seconds_bucket{name=\"csv\",le=\"1\"} 100\n\
        a_seconds_bucket{name=\"csv\",le=\"+Inf\"} 100\n\
        a_seconds_bucket{name=\"other\",le=\"0.1\"} 0\n\
        a_seconds_sum{name=\"csv\"} 7\n\
        b_seconds_bucket{name=\"csv\",le=\"0.1\"} 9\n";

    fn assert_near(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn quantiles_are_read_from_buckets() {
        let found = histograms(TEXT, ("a_seconds", "name"));
        assert_eq!(found.keys().collect::<Vec<_>>(), ["csv", "other"]);
        assert_near(quantile(0.5, &found["csv"]), 0.1);
        assert_near(quantile(0.99, &found["csv"]), 0.982);
        assert_eq!(quantile(0.5, &found["other"]), None);
    }

    #[test]
    fn only_what_happened_since_counts() {
        let found = histograms(TEXT, ("a_seconds", "name"));
        let since = difference(&found["csv"], &[(0.1, 50.0), (1.0, 60.0), (f64::INFINITY, 60.0)]);
        assert!((count(&since) - 40.0).abs() < 1e-9);
        assert_near(quantile(0.5, &since), 0.55);
    }

    #[test]
    fn what_is_above_all_bounds_is_at_the_last_one() {
        assert_near(quantile(0.5, &[(1.0, 0.0), (f64::INFINITY, 3.0)]), 1.0);
    }

    #[test]
    fn short_times_are_in_milliseconds() {
        assert_eq!((shown(0.0123), shown(2.5)), ("12.3 ms".to_owned(), "2.50 s".to_owned()));
    }
}
