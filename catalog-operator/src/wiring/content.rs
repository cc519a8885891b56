//! What catalogs, packages and bundles are read from.

use std::sync::Arc;

use anyhow::Context;
use olm_catalog::image::Registry;
use olm_catalog::registry::client::ClientOptions;

use crate::args::Args;
use crate::catalogs::{CatalogChange, Catalogs};
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
    pub registry: Registry,
    pub pulls: Pulls,
}

impl Content {
    pub(super) fn assemble(
        args: &Args,
        stores: &Stores,
        triggers: Triggers,
        metrics: &CatalogMetrics,
    ) -> anyhow::Result<Self> {
        let registry = Registry::new(args.insecure_registries.iter().cloned())
            .context("cannot read the system's certificates of authorities")?;
        let arrivals = triggers.clone();
        Ok(Self {
            pulls: Pulls::new(registry.clone(), move || arrivals.bundles_moved()),
            registry,
            packages: PackageCache::new(args.global_catalog_namespace()),
            catalogs: catalogs(args, stores, triggers, metrics),
        })
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
        if matches!(change, CatalogChange::Loaded | CatalogChange::Unchanged) {
            snapshots.with_label_values(&[&*key.namespace, &*key.name]).inc();
        }
        triggers.connected_catalog(key, change);
    });
    catalogs.unhealthy(args.unhealthy_catalogs)
}
