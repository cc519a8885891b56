//! Packages as people look at them: PackageManifests, made from a snapshot and the CSVs at the heads
//! of its channels (spec catalog-operator 7).
//!
//! ```text
//! Head::read            what a CSV says about itself
//! manifest              a package of a catalog, with its channels
//! StoredPackage::new    the same, packed: descriptions are most of it, and compress well
//! ```
//! Nothing here asks anybody for anything.

mod convert;
mod head;
mod icon;
mod labels;
mod stored;
#[cfg(test)]
mod tests;

pub use convert::{CatalogFacts, Heads, NoValidChannels, SHOWN_BYTES, manifest};
pub use head::{Head, HeadError};
pub use icon::{DEFAULT_ICON, Icon};
pub use stored::{StoredError, StoredPackage};
