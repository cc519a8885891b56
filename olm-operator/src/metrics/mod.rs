//! Metrics of CSVs with the names and labels of v0 (spec olm-operator 7.4).

use olm_kit::metrics::{Family, IntCounterVec, IntGaugeVec, Metrics, MetricsError};
use olm_kit::watch::Change;
use olm_types::api::{ClusterServiceVersion, CsvPhase};

/// How v0 shows the version of a CSV that has none.
const NO_VERSION: &str = "0.0.0";

const COUNT: Family = Family::v0("csv_count", "CSVs that are not copies", &[]);
const UPGRADES: Family = Family::v0("csv_upgrade_count", "CSVs that began to be replaced", &[]);
const SUCCEEDED: Family = Family::v0(
    "csv_succeeded",
    "1 while a CSV is succeeded, else 0",
    &["namespace", "name", "version"],
);
const ABNORMAL: Family = Family::v0(
    "csv_abnormal",
    "1 while a CSV is not succeeded",
    &["namespace", "name", "version", "phase", "reason"],
);
const CERTIFICATES: Family = Family::ours(
    "olm_csv_certificate_rotation_timestamp_seconds",
    "When the certificates of a CSV are due to be replaced, in seconds since 1970; they are good for \
     another day",
    &["namespace", "name"],
);

/// What the OLM operator counts. Clones share the metrics.
#[derive(Clone)]
pub struct CsvMetrics {
    count: IntGaugeVec,
    upgrades: IntCounterVec,
    succeeded: IntGaugeVec,
    abnormal: IntGaugeVec,
    certificates: IntGaugeVec,
}

impl CsvMetrics {
    /// Registers all of them.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self {
            count: metrics.gauge(COUNT)?,
            upgrades: metrics.counter(UPGRADES)?,
            succeeded: metrics.gauge(SUCCEEDED)?,
            abnormal: metrics.gauge(ABNORMAL)?,
            certificates: metrics.gauge(CERTIFICATES)?,
        })
    }

    /// A CSV began to be replaced.
    pub fn upgraded(&self) {
        self.upgrades.with_label_values::<&str>(&[]).inc();
    }

    /// Follows a change of a CSV; `count` is their number now.
    pub fn follow(&self, change: &Change<ClusterServiceVersion>, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.count.with_label_values::<&str>(&[]).set(count);
        if let Some(old) = &change.old {
            let labels = Labels::of(old);
            // A series that was never set is not an error worth reporting.
            let _ = self.abnormal.remove_label_values(&labels.state());
            if change.new.as_ref().is_none_or(|new| Labels::of(new).csv() != labels.csv()) {
                let _ = self.succeeded.remove_label_values(&labels.csv());
            }
            let _ = self.certificates.remove_label_values(&[labels.namespace, labels.name]);
        }
        if let Some(new) = &change.new {
            self.set(&Labels::of(new));
            self.date(new);
        }
    }

    /// CSVs without certificates have no date.
    fn date(&self, csv: &ClusterServiceVersion) {
        let labels = Labels::of(csv);
        let due = csv.status.as_ref().and_then(|status| status.certs_rotate_at.as_ref());
        if let Some(due) = due {
            let gauge = self.certificates.with_label_values(&[labels.namespace, labels.name]);
            gauge.set(due.0.as_second());
        }
    }

    /// A CSV that was not reconciled yet has no series, as in v0.
    fn set(&self, labels: &Labels<'_>) {
        if labels.phase == CsvPhase::None {
            return;
        }
        let succeeded = labels.phase == CsvPhase::Succeeded;
        self.succeeded.with_label_values(&labels.csv()).set(i64::from(succeeded));
        if !succeeded {
            self.abnormal.with_label_values(&labels.state()).set(1);
        }
    }
}

struct Labels<'a> {
    namespace: &'a str,
    name: &'a str,
    version: &'a str,
    phase: CsvPhase,
    reason: &'a str,
}

impl<'a> Labels<'a> {
    fn of(csv: &'a ClusterServiceVersion) -> Self {
        let status = csv.status.as_ref();
        Self {
            namespace: csv.metadata.namespace.as_deref().unwrap_or_default(),
            name: csv.metadata.name.as_deref().unwrap_or_default(),
            version: csv.spec.version.as_deref().unwrap_or(NO_VERSION),
            phase: status.map(|status| status.phase).unwrap_or_default(),
            reason: status.and_then(|status| status.reason.as_deref()).unwrap_or_default(),
        }
    }

    fn csv(&self) -> [&'a str; 3] {
        [self.namespace, self.name, self.version]
    }

    fn state(&self) -> [&'a str; 5] {
        [self.namespace, self.name, self.version, self.phase.as_str(), self.reason]
    }
}

#[cfg(test)]
mod tests;
