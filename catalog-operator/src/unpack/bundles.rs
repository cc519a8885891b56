//! Bundles as a resolution asks for them.

use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use olm_lifecycle::unpack::{AttemptState, UnpackSettings, lookup};
use olm_types::api::{BundleLookup, CatalogSource};
use olm_types::bundle::CatalogKey;

use super::{BundleUnpacker, Cluster, Order, Progress, QUIET, UnpackError};
use crate::clock;

/// Gets bundles in one of the ways.
pub struct Bundles {
    pub(crate) cluster: Cluster,
    pub(crate) unpacker: Arc<dyn BundleUnpacker>,
    /// How long an attempt may take, zero for no limit (`--bundle-unpack-timeout`).
    pub(crate) timeout: Duration,
    /// Bundles of this namespace's catalogs are unpacked for all namespaces.
    pub(crate) global_namespace: String,
}

impl Bundles {
    /// Whether an image of a bundle of this catalog is being unpacked, as far as is known without a request.
    pub fn attempt(&self, catalog: &CatalogKey, image: &str) -> AttemptState {
        let catalog = self.cluster.stores.catalogs.get(Some(&catalog.namespace), &catalog.name);
        catalog.map_or(AttemptState::None, |catalog| {
            self.unpacker.attempt(&self.cluster, &catalog, image)
        })
    }

    /// Brings the bundle of `lookup` one step nearer, with the settings of its OperatorGroup, and says
    /// where it stands. Unless it `may_start`, no further attempt begins.
    ///
    /// # Errors
    /// The API server refuses a step, or what was unpacked is no bundle.
    pub async fn unpack(
        &self,
        mut lookup: BundleLookup,
        settings: &UnpackSettings,
        may_start: bool,
    ) -> Result<Progress, UnpackError> {
        let Some(catalog) = self.catalog(&lookup) else {
            lookup::note_missing_catalog(&mut lookup, clock::now());
            return Ok(Progress::awaited(lookup, None, QUIET));
        };
        let is_shared = catalog.namespace().as_ref() == Some(&self.global_namespace);
        let limits = settings.limits(self.timeout, is_shared);
        self.unpacker.unpack(&self.cluster, Order { lookup, catalog, limits, may_start }).await
    }

    fn catalog(&self, lookup: &BundleLookup) -> Option<Arc<CatalogSource>> {
        let catalog = &lookup.catalog_source_ref;
        let catalogs = &self.cluster.stores.catalogs;
        catalogs.get(catalog.namespace.as_deref(), catalog.name.as_deref()?)
    }
}
