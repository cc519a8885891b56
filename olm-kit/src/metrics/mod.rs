//! What the process counts, in the Prometheus text format.
//!
//! Nothing outside of this module names the library behind it, except through the handle types
//! exported here. Names of domain metrics are those of version 0 and belong to the binaries;
//! names that start with `olm_kit_` are ours.

mod handles;
mod process;
mod summary;
#[cfg(test)]
mod tests;

use prometheus::core::Collector;
use prometheus::{HistogramOpts, Opts, Registry, TextEncoder};

pub use handles::{ControllerMetrics, InterpreterMetrics, RequestMetrics, WatchMetrics};
pub use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
};
pub use summary::SummaryVec;

/// Why a metric could not be set up or written.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The name or a label is invalid, or the name is taken.
    #[error("cannot register metric {name}")]
    Register {
        /// Name of the metric.
        name: String,
        /// What is wrong.
        #[source]
        source: prometheus::Error,
    },
    /// The metrics cannot be written as text.
    #[error("cannot encode metrics")]
    Encode(#[source] prometheus::Error),
}

/// The metrics of one process. Clones share them.
#[derive(Clone, Debug)]
pub struct Metrics {
    registry: Registry,
    controllers: ControllerMetrics,
    requests: RequestMetrics,
    watches: WatchMetrics,
    interpreter: InterpreterMetrics,
}

impl Metrics {
    /// A registry with what this crate counts and the process's own figures.
    ///
    /// # Errors
    /// When a metric cannot be registered, which would be a defect of this crate.
    pub fn new() -> Result<Self, MetricsError> {
        Self::with_registry(Registry::new())
    }

    /// The same, in a registry that is there already.
    ///
    /// # Errors
    /// When `registry` holds a metric of the same name.
    pub fn with_registry(registry: Registry) -> Result<Self, MetricsError> {
        register(&registry, "process", Box::new(process::ProcessCollector::new()))?;
        Ok(Self {
            controllers: ControllerMetrics::register(&registry)?,
            requests: RequestMetrics::register(&registry)?,
            watches: WatchMetrics::register(&registry)?,
            interpreter: InterpreterMetrics::register(&registry)?,
            registry,
        })
    }

    /// Handles for controllers.
    pub fn controllers(&self) -> ControllerMetrics {
        self.controllers.clone()
    }

    /// Handles for the client.
    pub fn requests(&self) -> RequestMetrics {
        self.requests.clone()
    }

    /// Handles for watches.
    pub fn watches(&self) -> WatchMetrics {
        self.watches.clone()
    }

    /// Handles for the interpreter.
    pub fn interpreter(&self) -> InterpreterMetrics {
        self.interpreter.clone()
    }

    /// Registers a family of counters.
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn counter(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> Result<IntCounterVec, MetricsError> {
        counter(&self.registry, name, help, labels)
    }

    /// Registers a family of gauges.
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn gauge(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> Result<IntGaugeVec, MetricsError> {
        gauge(&self.registry, name, help, labels)
    }

    /// Registers a family of histograms over seconds.
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn histogram(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
        buckets: &[f64],
    ) -> Result<HistogramVec, MetricsError> {
        histogram(&self.registry, name, help, labels, buckets)
    }

    /// Registers a family of summaries with the quantiles that version 0 reports.
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn summary(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> Result<SummaryVec, MetricsError> {
        let summary = named(name, SummaryVec::new(name, help, labels))?;
        register(&self.registry, name, Box::new(summary.clone()))?;
        Ok(summary)
    }

    /// All metrics as text.
    ///
    /// # Errors
    /// When a collector yields an inconsistent family.
    pub fn encode(&self) -> Result<String, MetricsError> {
        let families = self.registry.gather();
        TextEncoder::new().encode_to_string(&families).map_err(MetricsError::Encode)
    }
}

/// Content type of [`Metrics::encode`].
pub const TEXT_FORMAT: &str = prometheus::TEXT_FORMAT;

fn counter(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: &[&str],
) -> Result<IntCounterVec, MetricsError> {
    let family = named(name, IntCounterVec::new(Opts::new(name, help), labels))?;
    register(registry, name, Box::new(family.clone()))?;
    Ok(family)
}

fn gauge(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: &[&str],
) -> Result<IntGaugeVec, MetricsError> {
    let family = named(name, IntGaugeVec::new(Opts::new(name, help), labels))?;
    register(registry, name, Box::new(family.clone()))?;
    Ok(family)
}

fn histogram(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: &[&str],
    buckets: &[f64],
) -> Result<HistogramVec, MetricsError> {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    let family = named(name, HistogramVec::new(options, labels))?;
    register(registry, name, Box::new(family.clone()))?;
    Ok(family)
}

fn register(
    registry: &Registry,
    name: &str,
    collector: Box<dyn Collector>,
) -> Result<(), MetricsError> {
    named(name, registry.register(collector))
}

fn named<T>(name: &str, result: prometheus::Result<T>) -> Result<T, MetricsError> {
    result.map_err(|source| MetricsError::Register { name: name.to_owned(), source })
}
