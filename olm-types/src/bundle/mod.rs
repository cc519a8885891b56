//! Bundles as a resolver sees them, and the trait through which it sees catalogs.

mod entry;
mod universe;

pub use entry::{BundleContent, CatalogKey, Deprecations, Entry, Property};
pub use universe::{CatalogView, Universe};
