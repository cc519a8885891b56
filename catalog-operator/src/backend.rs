//! What serves the content of a CatalogSource.
//!
//! One backend per type of CatalogSource. This version has the one for catalogs whose server runs
//! already; a type without a backend is told in the status of the CatalogSource.

use async_trait::async_trait;
use olm_lifecycle::catalog_source::Backend;
use olm_types::api::CatalogSource;

/// Makes sure that a catalog is served.
#[async_trait]
pub trait CatalogBackend: Send + Sync {
    /// Whether this backend serves what is wanted.
    fn serves(&self, wanted: &Backend) -> bool;

    /// Makes sure that a server runs and says where (`host:port`); nothing while it is not ready.
    async fn ensure(
        &self,
        catalog: &CatalogSource,
        wanted: &Backend,
    ) -> Result<Option<String>, BackendError>;
}

/// Why no server runs.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BackendError(pub String);

/// Catalogs with `spec.address`: nothing has to be made.
#[derive(Debug, Default)]
pub struct AddressBackend;

#[async_trait]
impl CatalogBackend for AddressBackend {
    fn serves(&self, wanted: &Backend) -> bool {
        matches!(wanted, Backend::Address(_))
    }

    async fn ensure(
        &self,
        _: &CatalogSource,
        wanted: &Backend,
    ) -> Result<Option<String>, BackendError> {
        match wanted {
            Backend::Address(address) => Ok(Some(address.clone())),
            Backend::Image | Backend::ConfigMap => Ok(None),
        }
    }
}

/// The backends of this version.
pub fn all() -> Vec<Box<dyn CatalogBackend>> {
    vec![Box::new(AddressBackend)]
}
