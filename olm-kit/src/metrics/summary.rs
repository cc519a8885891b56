//! Summaries with quantiles, which the library does not bring along.
//!
//! Version 0 publishes `olm_resolution_duration_seconds` as a summary and dashboards read its
//! quantiles. Observations of the last ten minutes count, as with the Go client, and at most
//! [`KEPT`] of them per label set, which bounds memory and the work of a scrape.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use prometheus::core::{Collector, Desc};
use prometheus::proto;

use super::at_scrape::{desc, pairs};
use super::family::Family;

/// The quantiles of version 0.
const QUANTILES: [f64; 3] = [0.9, 0.95, 0.99];

/// Age at which an observation no longer counts for quantiles.
const WINDOW: Duration = Duration::from_secs(600);

/// Observations kept per label set.
const KEPT: usize = 2048;

/// A family of summaries. Clones share the observations.
#[derive(Clone, Debug)]
pub struct SummaryVec {
    family: Family,
    desc: Desc,
    series: Arc<Mutex<BTreeMap<Vec<String>, Series>>>,
}

#[derive(Debug, Default)]
struct Series {
    count: u64,
    sum: f64,
    recent: VecDeque<(Instant, f64)>,
}

impl SummaryVec {
    pub(super) fn new(family: Family) -> prometheus::Result<Self> {
        Ok(Self { family, desc: desc(family)?, series: Arc::default() })
    }

    /// Adds an observation. Values for labels are given in the order of registration; an
    /// observation with a wrong number of them is dropped when metrics are written.
    pub fn observe(&self, label_values: &[&str], value: f64) {
        let labels = label_values.iter().map(|value| (*value).to_owned()).collect();
        self.series.lock().entry(labels).or_default().observe(Instant::now(), value);
    }
}

impl Series {
    fn observe(&mut self, now: Instant, value: f64) {
        self.count += 1;
        self.sum += value;
        self.recent.push_back((now, value));
        self.expire(now);
    }

    fn expire(&mut self, now: Instant) {
        let old = |(at, _): &(Instant, f64)| now.saturating_duration_since(*at) > WINDOW;
        while self.recent.len() > KEPT || self.recent.front().is_some_and(old) {
            self.recent.pop_front();
        }
    }

    fn summary(&mut self, now: Instant) -> proto::Summary {
        self.expire(now);
        let mut values: Vec<f64> = self.recent.iter().map(|(_, value)| *value).collect();
        values.sort_by(f64::total_cmp);
        let mut summary = proto::Summary::default();
        summary.set_sample_count(self.count);
        summary.set_sample_sum(self.sum);
        summary.set_quantile(QUANTILES.iter().map(|rank| quantile(*rank, &values)).collect());
        summary
    }
}

/// The quantile of sorted values; not a number when there are none, as the Go client says.
fn quantile(rank: f64, sorted: &[f64]) -> proto::Quantile {
    // Ranks are below one and lengths below KEPT, so the product is a small positive number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let index = (rank * sorted.len() as f64).ceil() as usize;
    let mut quantile = proto::Quantile::default();
    quantile.set_quantile(rank);
    quantile.set_value(sorted.get(index.saturating_sub(1)).copied().unwrap_or(f64::NAN));
    quantile
}

impl Collector for SummaryVec {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.desc]
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let now = Instant::now();
        let mut family = proto::MetricFamily::default();
        family.set_name(self.family.name.to_owned());
        family.set_help(self.family.help.to_owned());
        family.set_field_type(proto::MetricType::SUMMARY);
        let mut series = self.series.lock();
        let names = self.family.labels;
        let whole = series.iter_mut().filter(|(values, _)| values.len() == names.len());
        let metrics = whole.map(|(values, series)| {
            let mut metric = proto::Metric::from_label(pairs(names, values));
            metric.set_summary(series.summary(now));
            metric
        });
        family.set_metric(metrics.collect());
        vec![family]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_taken_from_recent_observations() {
        let start = Instant::now();
        let mut series = Series::default();
        series.observe(start, 1000.0);
        let later = start + WINDOW + Duration::from_secs(1);
        (1..=100).for_each(|value| series.observe(later, f64::from(value)));
        let summary = series.summary(later);
        let values: Vec<_> = summary.get_quantile().iter().map(proto::Quantile::value).collect();
        assert_eq!(values, [90.0, 95.0, 99.0]);
        assert_eq!((summary.sample_count(), summary.sample_sum()), (101, 6050.0));
    }

    #[test]
    fn memory_is_bounded() {
        let (now, mut series) = (Instant::now(), Series::default());
        (0..3 * KEPT).for_each(|_| series.observe(now, 1.0));
        assert_eq!(series.recent.len(), KEPT);
    }
}
