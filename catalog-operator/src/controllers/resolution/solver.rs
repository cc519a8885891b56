//! What a resolution reads and asks: the catalogs that a namespace sees, the resolver, and the manifests of
//! what was chosen. Nothing here writes.

use olm_catalog::snapshot::SnapshotSet;
use olm_lifecycle::install_plan::steps::BundleInput;
use olm_lifecycle::subscription::resolution::{Failure, Namespace, Selection};

use super::observe;
use super::solve::{ResolutionInputs, Rules, Solved, solve};
use crate::catalogs::Catalogs;
use crate::metrics::CatalogMetrics;
use crate::stores::Stores;

/// Answers questions about namespaces. Clones share their catalogs.
#[derive(Clone)]
pub struct Solver {
    pub(crate) stores: Stores,
    pub(crate) catalogs: Catalogs,
    pub(crate) global_namespace: String,
    pub(crate) rules: Rules,
    pub(crate) metrics: CatalogMetrics,
}

impl Solver {
    /// The contents of the catalogs that the namespace sees; none while one is still being loaded.
    pub(super) fn universe(&self, namespace: &Namespace) -> Option<SnapshotSet> {
        let visible = namespace.visible(&self.global_namespace);
        observe::universe(&visible, &self.stores, &self.catalogs)
    }

    /// The answer of the resolver.
    pub(super) async fn solve(&self, question: ResolutionInputs, rules: &Rules) -> Solved {
        solve(question, rules, &self.metrics.resolutions).await
    }

    /// Manifests of the bundles that the catalogs hold.
    ///
    /// # Errors
    /// A catalog does not give them.
    pub(super) async fn fetch(&self, selection: &Selection) -> Result<Vec<BundleInput>, Failure> {
        if selection.updates.is_empty() {
            return Ok(Vec::new());
        }
        let entries = selection.inline.iter().map(|choice| choice.entry.clone()).collect();
        let fetched = self.catalogs.bundles(entries).await.map_err(Failure::Prevented)?;
        let bundles = selection.inline.iter().zip(fetched);
        Ok(bundles
            .map(|(choice, manifests)| BundleInput {
                entry: choice.entry.clone(),
                replaces: choice.replaces.clone(),
                csv_json: manifests.csv_json,
                objects: manifests.objects,
            })
            .collect())
    }
}
