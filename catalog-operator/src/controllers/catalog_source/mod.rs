//! CatalogSources: what serves them, their connections and their status (spec catalog-operator 1).

mod observe;
mod reconcile;

pub use reconcile::CatalogSources;
