//! What the process counts, in the Prometheus text format.
//!
//! Nothing outside of this module names the library behind it, except through the handle types
//! exported here. A [`Family`] is declared as a constant and registered from it, so that the list
//! of all of them ([`Metrics::families`]) is complete. Names of domain metrics are those of version
//! 0 and belong to the binaries; names that start with `olm_kit_` are ours.

mod at_scrape;
mod catalogue;
mod controllers;
mod family;
mod health;
mod process;
mod requests;
mod summary;
#[cfg(test)]
mod tests;
mod watches;

use serde_json::{Value, json};

use crate::leader::Leadership;
use crate::tls::ServingIdentity;
use catalogue::Catalogue;
use health::Health;

pub use controllers::ControllerMetrics;
pub use family::{Described, Family, LATENCY, Origin, Type};
pub use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};
pub use requests::{InterpreterMetrics, RequestMetrics};
pub use summary::SummaryVec;
pub use watches::{WatchFigures, WatchMetrics};

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
#[derive(Clone)]
pub struct Metrics {
    catalogue: Catalogue,
    controllers: ControllerMetrics,
    requests: RequestMetrics,
    watches: WatchMetrics,
    interpreter: InterpreterMetrics,
    health: Health,
}

impl Metrics {
    /// What this crate counts, and the process's own figures.
    ///
    /// # Errors
    /// When a metric cannot be registered, which would be a defect of this crate.
    pub fn new() -> Result<Self, MetricsError> {
        let catalogue = Catalogue::new();
        process::register(&catalogue)?;
        Ok(Self {
            controllers: ControllerMetrics::register(&catalogue)?,
            requests: RequestMetrics::register(&catalogue)?,
            watches: WatchMetrics::register(&catalogue)?,
            interpreter: InterpreterMetrics::register(&catalogue)?,
            health: Health::register(&catalogue)?,
            catalogue,
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

    /// Reports from now on whether this process leads by the Lease of that name.
    pub fn leader(&self, lease: &str, leadership: &Leadership) {
        self.health.leader(lease, leadership);
    }

    /// Reports from now on when the certificate of a server ends.
    pub fn certificate(&self, server: &str, identity: &ServingIdentity) {
        self.health.certificate(server, identity);
    }

    /// Registers counters.
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn counter(&self, family: Family) -> Result<IntCounterVec, MetricsError> {
        self.catalogue.counter(family)
    }

    /// Registers gauges.
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn gauge(&self, family: Family) -> Result<IntGaugeVec, MetricsError> {
        self.catalogue.gauge(family)
    }

    /// Registers histograms over seconds, with the bounds [`LATENCY`].
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn histogram(&self, family: Family) -> Result<HistogramVec, MetricsError> {
        self.catalogue.histogram(family, &LATENCY)
    }

    /// Registers summaries with the quantiles that version 0 reports.
    ///
    /// # Errors
    /// When the name or a label is invalid or the name is taken.
    pub fn summary(&self, family: Family) -> Result<SummaryVec, MetricsError> {
        self.catalogue.summary(family)
    }

    /// Every family that may be in a scrape, by name, whether it has values already or not.
    pub fn families(&self) -> Vec<Described> {
        self.catalogue.families()
    }

    /// All metrics as text.
    ///
    /// # Errors
    /// When a collector yields an inconsistent family.
    pub fn encode(&self) -> Result<String, MetricsError> {
        self.catalogue.encode()
    }

    /// What is measured and easier read by people than in a scrape.
    pub(crate) fn state(&self) -> Value {
        json!({
            "process": self.health.state(),
            "queues": self.controllers.figures(),
            "watches": self.watches.figures(),
        })
    }
}

/// Content type of [`Metrics::encode`].
pub const TEXT_FORMAT: &str = prometheus::TEXT_FORMAT;
