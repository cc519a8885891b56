//! How long resolutions take: v0's summary, and a histogram, which can be added up over replicas.

use std::time::Duration;

use olm_kit::metrics::{Family, HistogramVec, Metrics, MetricsError, SummaryVec};

const DURATION: Family = Family::v0(
    "olm_resolution_duration_seconds",
    "Seconds that a resolution took, by outcome: succeeded or failed",
    &["outcome"],
);
const LATENCY: Family = Family::ours(
    "olm_resolution_latency_seconds",
    "Seconds that a resolution took, by outcome, as a histogram",
    &["outcome"],
);

/// Both. Clones share them.
#[derive(Clone)]
pub struct ResolutionTimes {
    summary: SummaryVec,
    histogram: HistogramVec,
}

impl ResolutionTimes {
    pub(super) fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self { summary: metrics.summary(DURATION)?, histogram: metrics.histogram(LATENCY)? })
    }

    /// Counts a resolution.
    pub fn observe(&self, took: Duration, succeeded: bool) {
        let outcome = if succeeded { "succeeded" } else { "failed" };
        self.summary.observe(&[outcome], took.as_secs_f64());
        self.histogram.with_label_values(&[outcome]).observe(took.as_secs_f64());
    }
}
