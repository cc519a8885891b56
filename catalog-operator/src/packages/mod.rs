//! The packages API: what catalogs offer, for people (spec catalog-operator 7).
//!
//! `olm_catalog::packages` makes PackageManifests, `olm_kit::aggregated` serves objects; here both
//! are joined. Whenever a catalog was loaded, the CSVs at the heads of its channels are fetched and
//! packed ([`refresh`]); requests are answered from memory ([`cache`]). While nothing is known the
//! answer is empty, never an error, so that this API never stands in anybody's way.

mod cache;
mod kind;
mod maintenance;
mod refresh;

pub use cache::PackageCache;
pub use maintenance::Maintenance;
pub use refresh::Refresh;
