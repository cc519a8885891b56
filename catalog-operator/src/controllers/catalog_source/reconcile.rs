//! Keeps a CatalogSource connected and its status true.

use async_trait::async_trait;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_kit::watch::Store;
use olm_lifecycle::catalog_source;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;

use super::super::act;
use super::observe::observe;
use crate::backend::CatalogBackend;
use crate::catalogs::Catalogs;
use crate::clock;
use crate::metrics::CatalogMetrics;

/// Reconciles CatalogSources.
pub struct CatalogSources {
    pub(crate) store: Store<CatalogSource>,
    pub(crate) catalogs: Catalogs,
    pub(crate) backends: Vec<Box<dyn CatalogBackend>>,
    pub(crate) interpreter: Interpreter,
    pub(crate) metrics: CatalogMetrics,
}

#[async_trait]
impl Reconciler<ObjectKey> for CatalogSources {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let catalog_key = CatalogKey::new(namespace, &key.name);
        self.metrics.count_catalogs(self.store.len());
        let Some(catalog) = self.store.get_key(key) else {
            self.catalogs.forget(&catalog_key);
            self.metrics.forget_catalog(namespace, &key.name);
            return Ok(Conclusion::Done);
        };
        let observed = observe(catalog, &catalog_key, &self.backends, &self.catalogs).await;
        let ready =
            matches!(&observed.connection, Ok(Some(connection)) if connection.state == "READY");
        self.metrics.ready.with_label_values(&[namespace, &key.name]).set(i64::from(ready));
        let effects: Vec<_> = catalog_source::decide(&observed, clock::now()).into_iter().collect();
        act(&self.interpreter, &effects).await?;
        Ok(Conclusion::Done)
    }
}
