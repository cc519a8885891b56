//! CatalogSources: what serves them, their connections and their status (spec catalog-operator 1).

mod observe;
mod reconcile;
mod version;

pub use reconcile::CatalogSources;
pub use version::ServerVersion;
