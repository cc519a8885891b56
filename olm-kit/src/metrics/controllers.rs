//! What controllers and their queues count, under the names that client-go gave them.

use std::collections::BTreeMap;
use std::time::Duration;

use prometheus::{HistogramVec, IntCounterVec};

use super::MetricsError;
use super::at_scrape::{Probes, Sample};
use super::catalogue::Catalogue;
use super::family::{Family, LATENCY, Type};
use crate::queue::QueueFigures;

const RECONCILES: Family = Family::ours(
    "olm_kit_reconciles_total",
    "Reconciles by controller and result: success or error",
    &["controller", "result"],
);
const WITHOUT_EFFECT: Family = Family::ours(
    "olm_kit_reconciles_without_effect_total",
    "Reconciles that ended without an error and wrote nothing, by controller and by what asked for them first: the kind \
     of the object that changed, time (a delay, or the pause after a failure), or other",
    &["controller", "trigger"],
);
const DEPTH: Family = Family::kubernetes(
    "workqueue_depth",
    "Keys that are due and not yet taken, by controller",
    NAME,
);
const ADDS: Family =
    Family::kubernetes("workqueue_adds_total", "Keys that became due, by controller", NAME);
const RETRIES: Family =
    Family::kubernetes("workqueue_retries_total", "Keys that failed and were put back", NAME);
const WAIT: Family = Family::kubernetes(
    "workqueue_queue_duration_seconds",
    "Seconds for which keys were due until a worker took them",
    NAME,
);
const WORK: Family = Family::kubernetes(
    "workqueue_work_duration_seconds",
    "Seconds that reconciles took, by controller",
    NAME,
);
const UNFINISHED: Family = Family::kubernetes(
    "workqueue_unfinished_work_seconds",
    "Seconds for which reconciles that have not ended are running, added up",
    NAME,
);
const LONGEST: Family = Family::kubernetes(
    "workqueue_longest_running_processor_seconds",
    "Seconds for which the longest of the reconciles that have not ended is running",
    NAME,
);
const OLDEST: Family = Family::ours(
    "olm_kit_queue_oldest_key_seconds",
    "Seconds for which the oldest key that no worker has taken is due",
    NAME,
);
const FAILING: Family =
    Family::ours("olm_kit_queue_failing_keys", "Keys whose last reconcile failed", NAME);

const NAME: &[&str] = &["name"];

/// What controllers count. Clones share it.
#[derive(Clone)]
pub struct ControllerMetrics {
    reconciles: IntCounterVec,
    without_effect: IntCounterVec,
    wait: HistogramVec,
    work: HistogramVec,
    queues: Probes<String, QueueFigures>,
}

impl ControllerMetrics {
    pub(super) fn register(catalogue: &Catalogue) -> Result<Self, MetricsError> {
        let queues: Probes<String, QueueFigures> = Probes::default();
        let gauges =
            [DEPTH, UNFINISHED, LONGEST, OLDEST, FAILING].map(|f| f.described(Type::Gauge));
        let counters = [ADDS, RETRIES].map(|family| family.described(Type::Counter));
        let read = queues.clone();
        catalogue.at_scrape(&[&gauges[..], &counters].concat(), move || {
            read.read().iter().flat_map(|(name, figures)| samples(name, figures)).collect()
        })?;
        Ok(Self {
            reconciles: catalogue.counter(RECONCILES)?,
            without_effect: catalogue.counter(WITHOUT_EFFECT)?,
            wait: catalogue.histogram(WAIT, &LATENCY)?,
            work: catalogue.histogram(WORK, &LATENCY)?,
            queues,
        })
    }

    /// Shows the queue of a controller from now on.
    pub fn queue(&self, controller: &str, read: impl Fn() -> QueueFigures + Send + Sync + 'static) {
        self.queues.add(controller.to_owned(), read);
    }

    /// A worker took a key that was due for this long.
    pub fn taken(&self, controller: &str, waited: Duration) {
        self.wait.with_label_values(&[controller]).observe(waited.as_secs_f64());
    }

    /// Counts one reconcile.
    pub fn observe(&self, controller: &str, took: Duration, failed: bool) {
        let result = if failed { "error" } else { "success" };
        self.reconciles.with_label_values(&[controller, result]).inc();
        self.work.with_label_values(&[controller]).observe(took.as_secs_f64());
    }

    /// Counts one that wrote nothing; `trigger` asked for it.
    pub fn without_effect(&self, controller: &str, trigger: &str) {
        self.without_effect.with_label_values(&[controller, trigger]).inc();
    }

    /// How every queue is doing, by controller.
    pub(crate) fn figures(&self) -> BTreeMap<String, QueueFigures> {
        self.queues.read().into_iter().collect()
    }
}

fn samples(name: &str, figures: &QueueFigures) -> [Sample; 7] {
    [
        (DEPTH, number(figures.due)),
        (UNFINISHED, figures.unfinished_seconds),
        (LONGEST, figures.longest_seconds),
        (OLDEST, figures.oldest_seconds),
        (FAILING, number(figures.failing)),
        (ADDS, number(figures.adds)),
        (RETRIES, number(figures.retries)),
    ]
    .map(|(family, value)| Sample::new(family, &[name], value))
}

/// A count as a sample takes it; exact below 2^53.
#[allow(clippy::cast_precision_loss)]
fn number(count: usize) -> f64 {
    count as f64
}
