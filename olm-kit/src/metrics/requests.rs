//! What is asked of the API server, and what it makes of it.

use std::time::Duration;

use prometheus::{HistogramVec, IntCounterVec};

use super::MetricsError;
use super::catalogue::Catalogue;
use super::family::{Family, LATENCY};

const REQUESTS: Family = Family::ours(
    "olm_kit_requests_total",
    "Calls to the API server by method and status code, 0 when no answer came",
    &["method", "code"],
);
const DURATION: Family = Family::ours(
    "olm_kit_request_duration_seconds",
    "Seconds until the head of the API server's answer, by verb of Kubernetes",
    &["verb"],
);
const EFFECTS: Family = Family::ours(
    "olm_kit_effects_total",
    "Effects on objects by their kind, action and outcome",
    &["kind", "action", "outcome"],
);

/// What clients count.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    requests: IntCounterVec,
    duration: HistogramVec,
}

impl RequestMetrics {
    pub(super) fn register(catalogue: &Catalogue) -> Result<Self, MetricsError> {
        Ok(Self {
            requests: catalogue.counter(REQUESTS)?,
            duration: catalogue.histogram(DURATION, &LATENCY)?,
        })
    }

    /// Counts one call; `code` is 0 when no answer came.
    pub fn observe(&self, method: &str, verb: &str, code: u16, took: Duration) {
        self.requests.with_label_values(&[method, &code.to_string()]).inc();
        self.duration.with_label_values(&[verb]).observe(took.as_secs_f64());
    }
}

/// What interpreters count.
#[derive(Clone, Debug)]
pub struct InterpreterMetrics {
    effects: IntCounterVec,
}

impl InterpreterMetrics {
    pub(super) fn register(catalogue: &Catalogue) -> Result<Self, MetricsError> {
        Ok(Self { effects: catalogue.counter(EFFECTS)? })
    }

    /// Counts one effect.
    pub fn observe(&self, kind: &str, action: &str, outcome: &str) {
        self.effects.with_label_values(&[kind, action, outcome]).inc();
    }
}
