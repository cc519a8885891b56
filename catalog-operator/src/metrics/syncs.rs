//! `subscription_sync_total`: one series per Subscription, with what it is subscribed to.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use kube::ResourceExt;
use olm_kit::ObjectKey;
use olm_kit::metrics::{Family, HistogramVec, IntCounterVec, Metrics, MetricsError, SummaryVec};
use olm_types::api::Subscription;

/// Labels are in the order of [`labels_of`].
const SYNCS: Family = Family::v0(
    "subscription_sync_total",
    "How often a Subscription was looked at",
    &["name", "installed", "channel", "package", "approval"],
);

/// Counts how often each Subscription was looked at. When what it is subscribed to changes, its
/// series is replaced, so that a Subscription never has two.
#[derive(Clone)]
pub struct SyncCounter {
    family: IntCounterVec,
    series: Arc<DashMap<ObjectKey, [String; 5]>>,
}

impl SyncCounter {
    pub(super) fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self { family: metrics.counter(SYNCS)?, series: Arc::default() })
    }

    /// Counts one look.
    pub fn count(&self, subscription: &Subscription) {
        let labels = labels_of(subscription);
        let before = self.series.insert(ObjectKey::of(subscription), labels.clone());
        if let Some(before) = before.filter(|before| *before != labels) {
            self.drop_series(&before);
        }
        self.family.with_label_values(&labels).inc();
    }

    /// Drops the series of a Subscription that is gone.
    pub fn forget(&self, key: &ObjectKey) {
        if let Some((_, labels)) = self.series.remove(key) {
            self.drop_series(&labels);
        }
    }

    fn drop_series(&self, labels: &[String; 5]) {
        // A twin in another namespace shares the series and may have dropped it already.
        let _ = self.family.remove_label_values(labels);
    }
}

fn labels_of(subscription: &Subscription) -> [String; 5] {
    let spec = &subscription.spec;
    let installed = subscription.status.as_ref().and_then(|status| status.installed_csv.clone());
    [
        subscription.name_any(),
        installed.unwrap_or_default(),
        spec.channel.clone().unwrap_or_default(),
        spec.name.clone(),
        // What is not set is not shown as the default.
        spec.install_plan_approval.map_or("", |approval| approval.as_str()).to_owned(),
    ]
}

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

#[cfg(test)]
mod tests {
    use olm_types::api::{SubscriptionSpec, SubscriptionStatus};

    use super::*;

    #[test]
    fn a_subscription_has_one_series() {
        let metrics = Metrics::new().unwrap();
        let counter = SyncCounter::register(&metrics).unwrap();
        let spec = SubscriptionSpec { name: "keda".to_owned(), ..SubscriptionSpec::default() };
        let mut subscription = Subscription::new("k", spec);
        let series = || {
            let text = metrics.encode().unwrap();
            let lines = text.lines().filter(|line| line.starts_with("subscription_sync_total{"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        counter.count(&subscription);
        let installed_csv = Some("keda.v1".to_owned());
        subscription.status = Some(SubscriptionStatus { installed_csv, ..Default::default() });
        counter.count(&subscription);
        counter.count(&subscription);
        assert_eq!(
            series(),
            [
                r#"subscription_sync_total{approval="",channel="",installed="keda.v1",name="k",package="keda"} 2"#
            ]
        );
        counter.forget(&ObjectKey::of(&subscription));
        assert!(series().is_empty());
    }
}
