//! What catalogs, packages and bundles are read from.

use std::sync::Arc;

use olm_catalog::image::Registry;
use olm_catalog::registry::client::ClientOptions;
use olm_kit::metrics::IntCounterVec;
use olm_types::bundle::CatalogKey;

use crate::args::Args;
use crate::catalogs::{Budget, BudgetLimits, CatalogChange, Catalogs};
use crate::metrics::CatalogMetrics;
use crate::packages::PackageCache;
use crate::servers::ServiceResolver;
use crate::stores::Stores;
use crate::triggers::Triggers;
use crate::unpack::Pulls;

/// Shared by all controllers.
#[derive(Clone)]
pub(super) struct Content {
    pub catalogs: Catalogs,
    pub packages: PackageCache,
    pub pulls: Pulls,
}

impl Content {
    pub(super) fn assemble(
        args: &Args,
        registry: &Registry,
        stores: &Stores,
        triggers: Triggers,
        metrics: &CatalogMetrics,
    ) -> Self {
        let moved = triggers.clone();
        Self {
            pulls: Pulls::new(registry.clone(), args.global_catalog_namespace(), move || {
                moved.bundles_moved();
            }),
            packages: PackageCache::new(args.global_catalog_namespace()),
            catalogs: catalogs(args, stores, triggers, metrics),
        }
    }
}

/// Catalogs whose changes become keys.
fn catalogs(
    args: &Args,
    stores: &Stores,
    triggers: Triggers,
    metrics: &CatalogMetrics,
) -> Catalogs {
    let snapshots = metrics.snapshots.clone();
    let resolver = Arc::new(ServiceResolver::new(stores.servers.services.clone()));
    let options = ClientOptions { resolver, ..ClientOptions::default() };
    let catalogs = Catalogs::new(options, move |key, change| {
        count(&snapshots, key, change);
        triggers.connected_catalog(key, change);
    });
    let global = args.global_catalog_namespace();
    let budget = Arc::new(Budget::new(BudgetLimits::default(), global));
    catalogs.unhealthy(args.unhealthy_catalogs).global_namespace(global).budget(budget)
}

/// The series of a catalog is there from the first state of its connection on, as in v0.
fn count(snapshots: &IntCounterVec, key: &CatalogKey, change: CatalogChange) {
    let series = || snapshots.with_label_values(&[&*key.namespace, &*key.name]);
    match change {
        CatalogChange::State => series().inc_by(0),
        CatalogChange::Loaded | CatalogChange::Unchanged => series().inc(),
        CatalogChange::Lost => {}
    }
}

#[cfg(test)]
mod tests {
    use olm_kit::metrics::Metrics;

    use super::*;

    #[test]
    fn a_series_begins_with_the_first_state_of_a_connection() {
        let metrics = Metrics::new().unwrap();
        let counted = CatalogMetrics::register(&metrics).unwrap();
        let key = CatalogKey::new("ns", "c");
        let lines = || {
            let text = metrics.encode().unwrap();
            let ours =
                text.lines().filter(|line| line.starts_with("catalog_source_snapshots_total{"));
            ours.map(str::to_owned).collect::<Vec<_>>()
        };
        let line = |count: u64| {
            vec![format!(r#"catalog_source_snapshots_total{{name="c",namespace="ns"}} {count}"#)]
        };
        count(&counted.snapshots, &key, CatalogChange::Lost);
        assert_eq!(lines(), Vec::<String>::new());
        count(&counted.snapshots, &key, CatalogChange::State);
        assert_eq!(lines(), line(0));
        count(&counted.snapshots, &key, CatalogChange::Loaded);
        count(&counted.snapshots, &key, CatalogChange::State);
        assert_eq!(lines(), line(1));
    }
}
