//! What this crate counts about itself.

use std::time::Duration;

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec, Registry};

use super::{MetricsError, counter, gauge, histogram};

/// Seconds; reconciles and calls take from a millisecond to the request timeout.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0];

/// What controllers count.
#[derive(Clone, Debug)]
pub struct ControllerMetrics {
    reconciles: IntCounterVec,
    duration: HistogramVec,
    depth: IntGaugeVec,
}

impl ControllerMetrics {
    pub(super) fn register(registry: &Registry) -> Result<Self, MetricsError> {
        Ok(Self {
            reconciles: counter(
                registry,
                "olm_kit_reconciles_total",
                "Reconciles by controller and result",
                &["controller", "result"],
            )?,
            duration: histogram(
                registry,
                "olm_kit_reconcile_duration_seconds",
                "Time from taking a key to the end of its reconcile",
                &["controller"],
                &BUCKETS,
            )?,
            depth: gauge(
                registry,
                "olm_kit_queue_depth",
                "Keys that are due and not yet taken",
                &["controller"],
            )?,
        })
    }

    /// Counts one reconcile.
    pub fn observe(&self, controller: &str, took: Duration, failed: bool, depth: usize) {
        let result = if failed { "error" } else { "success" };
        self.reconciles.with_label_values(&[controller, result]).inc();
        self.duration.with_label_values(&[controller]).observe(took.as_secs_f64());
        self.depth.with_label_values(&[controller]).set(count(depth));
    }
}

/// What clients count.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    requests: IntCounterVec,
    duration: HistogramVec,
}

impl RequestMetrics {
    pub(super) fn register(registry: &Registry) -> Result<Self, MetricsError> {
        Ok(Self {
            requests: counter(
                registry,
                "olm_kit_requests_total",
                "Calls to the API server by method and status code, 0 when no answer came",
                &["method", "code"],
            )?,
            duration: histogram(
                registry,
                "olm_kit_request_duration_seconds",
                "Time to the head of the answer",
                &["method"],
                &BUCKETS,
            )?,
        })
    }

    /// Counts one call; `code` is 0 when no answer came.
    pub fn observe(&self, method: &str, code: u16, took: Duration) {
        self.requests.with_label_values(&[method, &code.to_string()]).inc();
        self.duration.with_label_values(&[method]).observe(took.as_secs_f64());
    }
}

/// What watches count.
#[derive(Clone, Debug)]
pub struct WatchMetrics {
    objects: IntGaugeVec,
    malformed: IntGaugeVec,
    rejected: IntCounterVec,
    interruptions: IntCounterVec,
}

impl WatchMetrics {
    pub(super) fn register(registry: &Registry) -> Result<Self, MetricsError> {
        let kind = &["kind"];
        Ok(Self {
            objects: gauge(registry, "olm_kit_objects", "Objects in the store", kind)?,
            malformed: gauge(
                registry,
                "olm_kit_malformed_objects",
                "Objects that exist but cannot be read",
                kind,
            )?,
            rejected: counter(
                registry,
                "olm_kit_rejected_objects_total",
                "Versions of objects that could not be read",
                kind,
            )?,
            interruptions: counter(
                registry,
                "olm_kit_watch_interruptions_total",
                "Errors that interrupted a watch",
                kind,
            )?,
        })
    }

    /// How many objects the store of `kind` has, and how many more exist but cannot be read.
    pub fn objects(&self, kind: &str, readable: usize, malformed: usize) {
        self.objects.with_label_values(&[kind]).set(count(readable));
        self.malformed.with_label_values(&[kind]).set(count(malformed));
    }

    /// Counts a version of an object that cannot be read.
    pub fn rejected(&self, kind: &str) {
        self.rejected.with_label_values(&[kind]).inc();
    }

    /// Counts an error of the watch on `kind`.
    pub fn interrupted(&self, kind: &str) {
        self.interruptions.with_label_values(&[kind]).inc();
    }
}

/// What interpreters count.
#[derive(Clone, Debug)]
pub struct InterpreterMetrics {
    effects: IntCounterVec,
}

impl InterpreterMetrics {
    pub(super) fn register(registry: &Registry) -> Result<Self, MetricsError> {
        let effects = counter(
            registry,
            "olm_kit_effects_total",
            "Effects by kind of object, action and outcome",
            &["kind", "action", "outcome"],
        )?;
        Ok(Self { effects })
    }

    /// Counts one effect.
    pub fn observe(&self, kind: &str, action: &str, outcome: &str) {
        self.effects.with_label_values(&[kind, action, outcome]).inc();
    }
}

/// A count as a gauge takes it.
fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
