//! What is known about a CatalogSource.

use std::sync::Arc;

use olm_lifecycle::catalog_source::{Connection, Observed, backend};
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;

use crate::backend::CatalogBackend;
use crate::catalogs::Catalogs;

/// Has the catalog served and connected as its spec asks, and gathers what came of it.
pub(super) async fn observe(
    catalog: Arc<CatalogSource>,
    key: &CatalogKey,
    backends: &[Box<dyn CatalogBackend>],
    catalogs: &Catalogs,
) -> Observed {
    let connection = match address(&catalog, backends).await {
        Ok(Some(address)) => connect(catalogs, key, &address),
        Ok(None) => {
            catalogs.disconnect(key);
            Ok(None)
        }
        Err(problem) => Err(problem),
    };
    Observed { catalog, connection }
}

/// Where the catalog is served; nothing when its spec is invalid or no backend serves its type.
async fn address(
    catalog: &CatalogSource,
    backends: &[Box<dyn CatalogBackend>],
) -> Result<Option<String>, String> {
    let Ok(wanted) = backend(catalog) else { return Ok(None) };
    let Some(backend) = backends.iter().find(|backend| backend.serves(&wanted)) else {
        return Ok(None);
    };
    backend.ensure(catalog, &wanted).await.map_err(|error| error.to_string())
}

fn connect(
    catalogs: &Catalogs,
    key: &CatalogKey,
    address: &str,
) -> Result<Option<Connection>, String> {
    catalogs.connect(key, address).map_err(|error| error.to_string())?;
    Ok(catalogs.connection(key))
}
