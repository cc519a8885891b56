//! Catalogs that the operator serves itself. v0 has no such metrics.

use std::time::Duration;

use jiff::Timestamp;
use olm_kit::metrics::{Family, HistogramVec, IntCounterVec, IntGaugeVec, Metrics, MetricsError};
use olm_types::bundle::CatalogKey;

const LOOKS: Family = Family::ours(
    "olm_catalog_image_lookups_total",
    "How often a registry was asked for the digest of a catalog image that the operator serves, by outcome: succeeded or failed",
    &["namespace", "name", "outcome"],
);
const PULLS: Family = Family::ours(
    "olm_catalog_pulls_total",
    "How often the image of a catalog was pulled that the operator serves, by outcome: succeeded or failed",
    &["namespace", "name", "outcome"],
);
const PULL_SECONDS: Family = Family::ours(
    "olm_catalog_pull_duration_seconds",
    "Seconds that pulling, unpacking and indexing a catalog image took, by outcome: succeeded or failed",
    &["outcome"],
);
const PULLED: Family = Family::ours(
    "olm_catalog_pulled_timestamp_seconds",
    "When the content of a catalog was pulled that the operator serves, in seconds since 1970",
    &["namespace", "name"],
);
const BYTES: Family = Family::ours(
    "olm_catalog_store_bytes",
    "Bytes on the disk of catalogs that the operator serves, and of those that it pulls",
    &[],
);
const LIMIT: Family = Family::ours(
    "olm_catalog_store_limit_bytes",
    "Bytes that catalogs may take on the disk (--catalogs-dir-size)",
    &[],
);

/// What is counted. Clones share the series.
#[derive(Clone)]
pub struct HostingMetrics {
    looks: IntCounterVec,
    pulls: IntCounterVec,
    seconds: HistogramVec,
    pulled: IntGaugeVec,
    bytes: IntGaugeVec,
    limit: IntGaugeVec,
}

impl HostingMetrics {
    pub(super) fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self {
            looks: metrics.counter(LOOKS)?,
            pulls: metrics.counter(PULLS)?,
            seconds: metrics.histogram(PULL_SECONDS)?,
            pulled: metrics.gauge(PULLED)?,
            bytes: metrics.gauge(BYTES)?,
            limit: metrics.gauge(LIMIT)?,
        })
    }

    /// A registry was asked for a digest.
    pub fn looked(&self, key: &CatalogKey, succeeded: bool) {
        self.looks.with_label_values(&[&*key.namespace, &*key.name, outcome(succeeded)]).inc();
    }

    /// An image was pulled, or was not.
    pub fn pulled(&self, key: &CatalogKey, took: Duration, succeeded: bool) {
        let outcome = outcome(succeeded);
        self.pulls.with_label_values(&[&*key.namespace, &*key.name, outcome]).inc();
        self.seconds.with_label_values(&[outcome]).observe(took.as_secs_f64());
    }

    /// A catalog has content of this time.
    pub fn shown(&self, key: &CatalogKey, pulled_at: Timestamp) {
        self.pulled.with_label_values(&[&*key.namespace, &*key.name]).set(pulled_at.as_second());
    }

    /// So many bytes of so many are taken on the disk.
    pub fn stored(&self, (bytes, limit): (u64, u64)) {
        let none: [&str; 0] = [];
        let number = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        self.bytes.with_label_values(&none).set(number(bytes));
        self.limit.with_label_values(&none).set(number(limit));
    }

    /// Drops the series of a catalog that is not served any more.
    pub fn forget(&self, key: &CatalogKey) {
        let (namespace, name) = (&*key.namespace, &*key.name);
        // Series that were never set cannot be removed, which is as good.
        let _ = self.pulled.remove_label_values(&[namespace, name]);
        for succeeded in [true, false] {
            let labels = [namespace, name, outcome(succeeded)];
            let _ = self.looks.remove_label_values(&labels);
            let _ = self.pulls.remove_label_values(&labels);
        }
    }
}

fn outcome(succeeded: bool) -> &'static str {
    if succeeded { "succeeded" } else { "failed" }
}
