//! Metrics with the names and labels of v0 (spec catalog-operator 8).

mod syncs;

use olm_kit::metrics::{IntCounterVec, IntGaugeVec, Metrics, MetricsError, SummaryVec};

pub use syncs::SyncCounter;

/// What the catalog operator counts.
#[derive(Clone)]
pub struct CatalogMetrics {
    /// `catalogsource_ready{namespace,name}`.
    pub ready: IntGaugeVec,
    /// `catalog_source_snapshots_total{namespace,name}`.
    pub snapshots: IntCounterVec,
    /// `catalog_source_count`.
    pub catalogs: IntGaugeVec,
    /// `subscription_count`.
    pub subscriptions: IntGaugeVec,
    /// `install_plan_count`.
    pub plans: IntGaugeVec,
    /// `installplan_warnings_total`.
    pub plan_warnings: IntCounterVec,
    /// `subscription_sync_total{name,installed,channel,package,approval}`.
    pub syncs: SyncCounter,
    /// `olm_resolution_duration_seconds{outcome}`.
    pub resolutions: SummaryVec,
}

impl CatalogMetrics {
    /// Registers all of them.
    ///
    /// # Errors
    /// A name is taken.
    pub fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        let catalog = ["namespace", "name"];
        Ok(Self {
            ready: metrics.gauge(
                "catalogsource_ready",
                "1 while a catalog is READY, otherwise 0",
                &catalog,
            )?,
            snapshots: metrics.counter(
                "catalog_source_snapshots_total",
                "How often the content of a catalog was loaded",
                &catalog,
            )?,
            catalogs: metrics.gauge(
                "catalog_source_count",
                "CatalogSources in the cluster",
                &[],
            )?,
            subscriptions: metrics.gauge(
                "subscription_count",
                "Subscriptions in the cluster",
                &[],
            )?,
            plans: metrics.gauge("install_plan_count", "InstallPlans in the cluster", &[])?,
            plan_warnings: metrics.counter(
                "installplan_warnings_total",
                "Steps of InstallPlans for which the API server warned",
                &[],
            )?,
            syncs: SyncCounter::new(metrics.counter(
                "subscription_sync_total",
                "How often a Subscription was looked at",
                &syncs::LABELS,
            )?),
            resolutions: metrics.summary(
                "olm_resolution_duration_seconds",
                "Seconds that a resolution took",
                &["outcome"],
            )?,
        })
    }
}

impl CatalogMetrics {
    /// Sets `subscription_count`.
    pub fn count_subscriptions(&self, count: usize) {
        set(&self.subscriptions, count);
    }

    /// Sets `install_plan_count`.
    pub fn count_plans(&self, count: usize) {
        set(&self.plans, count);
    }

    /// Adds to `installplan_warnings_total`.
    pub fn count_plan_warnings(&self, steps: usize) {
        let none: [&str; 0] = [];
        self.plan_warnings.with_label_values(&none).inc_by(steps as u64);
    }

    /// Sets `catalog_source_count`.
    pub fn count_catalogs(&self, count: usize) {
        set(&self.catalogs, count);
    }

    /// Drops the series of a catalog that is gone.
    pub fn forget_catalog(&self, namespace: &str, name: &str) {
        // Series that were never set cannot be removed, which is as good.
        let _ = self.ready.remove_label_values(&[namespace, name]);
        let _ = self.snapshots.remove_label_values(&[namespace, name]);
    }
}

fn set(gauge: &IntGaugeVec, count: usize) {
    let none: [&str; 0] = [];
    gauge.with_label_values(&none).set(i64::try_from(count).unwrap_or(i64::MAX));
}
