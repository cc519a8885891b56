//! Metrics with the names and labels of v0 (spec catalog-operator 8).

mod abnormal;
mod hosting;
mod syncs;
mod upgrades;
mod waiting;

use kube::ResourceExt;
use olm_kit::metrics::{Family, IntCounterVec, IntGaugeVec, Metrics, MetricsError};
use olm_kit::watch::Store;
use olm_types::api::{InstallPlan, Subscription};

pub use abnormal::AbnormalSubscriptions;
pub use hosting::HostingMetrics;
pub use syncs::{ResolutionTimes, SyncCounter};
pub use upgrades::AvailableUpgrades;
pub use waiting::WaitingApprovals;

const READY: Family = Family::v0(
    "catalogsource_ready",
    "1 while a catalog is READY, otherwise 0",
    &["namespace", "name"],
);
const SNAPSHOTS: Family = Family::v0(
    "catalog_source_snapshots_total",
    "How often the content of a catalog was loaded",
    &["namespace", "name"],
);
const CATALOGS: Family = Family::v0("catalog_source_count", "CatalogSources in the cluster", &[]);
const SUBSCRIPTIONS: Family = Family::v0("subscription_count", "Subscriptions in the cluster", &[]);
const PLANS: Family = Family::v0("install_plan_count", "InstallPlans in the cluster", &[]);
const PLAN_WARNINGS: Family = Family::v0(
    "installplan_warnings_total",
    "Steps of InstallPlans for which the API server warned",
    &[],
);

/// Most bytes of a label's value.
const LONGEST: usize = 253;

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
    /// `olm_resolution_duration_seconds{outcome}`, and the same as a histogram.
    pub resolutions: ResolutionTimes,
    /// `olm_subscription_abnormal{namespace,name,package,condition,reason}`.
    pub abnormal: AbnormalSubscriptions,
    /// `olm_upgrade_available{namespace,name,from,to,held_by}`.
    pub upgrades: AvailableUpgrades,
    /// `olm_approval_waiting_since_timestamp_seconds{namespace,name,csv}`.
    pub waiting: WaitingApprovals,
    /// `olm_catalog_…`: catalogs that the operator serves itself.
    pub hosting: HostingMetrics,
}

impl CatalogMetrics {
    /// Registers all of them.
    ///
    /// # Errors
    /// A name is taken.
    pub fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self {
            ready: metrics.gauge(READY)?,
            snapshots: metrics.counter(SNAPSHOTS)?,
            catalogs: metrics.gauge(CATALOGS)?,
            subscriptions: metrics.gauge(SUBSCRIPTIONS)?,
            plans: metrics.gauge(PLANS)?,
            plan_warnings: metrics.counter(PLAN_WARNINGS)?,
            syncs: SyncCounter::register(metrics)?,
            resolutions: ResolutionTimes::register(metrics)?,
            abnormal: AbnormalSubscriptions::register(metrics)?,
            upgrades: AvailableUpgrades::register(metrics)?,
            waiting: WaitingApprovals::register(metrics)?,
            hosting: HostingMetrics::register(metrics)?,
        })
    }

    /// From now on, series about what stands in the way of these Subscriptions, and about what
    /// waits for approval, follow the objects.
    pub fn follow(&self, subscriptions: &Store<Subscription>, plans: &Store<InstallPlan>) {
        let (abnormal, upgrades) = (self.abnormal.clone(), self.upgrades.clone());
        let waiting = self.waiting.clone();
        let stores = (subscriptions.clone(), plans.clone());
        subscriptions.on_change(move |change| {
            abnormal.follow(change);
            upgrades.follow_subscription(change);
            let namespace = change.latest().and_then(|one| one.namespace()).unwrap_or_default();
            waiting.follow_plans(&namespace, &stores.0, &stores.1);
        });
        let (waiting, stores) = (self.waiting.clone(), (subscriptions.clone(), plans.clone()));
        plans.on_change(move |change| {
            let namespace = change.latest().and_then(|plan| plan.namespace()).unwrap_or_default();
            if change.versions().any(|plan| plan.waits_for_approval()) {
                waiting.follow_plans(&namespace, &stores.0, &stores.1);
            }
        });
    }

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

/// A label's value: names of objects are no longer, and statuses may hold anything.
fn bounded(value: &str) -> String {
    value.get(..value.floor_char_boundary(LONGEST)).unwrap_or(value).to_owned()
}

fn set(gauge: &IntGaugeVec, count: usize) {
    let none: [&str; 0] = [];
    gauge.with_label_values(&none).set(i64::try_from(count).unwrap_or(i64::MAX));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_family() {
        let page = std::fs::read_to_string("../docs/metrics.md").unwrap();
        let metrics = Metrics::new().unwrap();
        CatalogMetrics::register(&metrics).unwrap();
        for family in metrics.families() {
            let row = format!("{family}\n");
            assert!(page.contains(&row), "stale, run `cargo xtask metrics`: {row}");
        }
    }

    #[test]
    fn every_step_that_was_warned_about_counts() {
        let metrics = Metrics::new().unwrap();
        let counted = CatalogMetrics::register(&metrics).unwrap();
        counted.count_plan_warnings(2);
        counted.count_plan_warnings(1);
        let text = metrics.encode().unwrap();
        assert!(text.lines().any(|line| line == "installplan_warnings_total 3"), "{text}");
    }
}
