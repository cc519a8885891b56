//! What a resolver needs of a catalog, held in memory (spec catalog-operator 3.2).
//!
//! A [`SnapshotBuilder`] takes the records of the registry protocol and gives a
//! [`CatalogSnapshot`]: entries with shared strings and indexes by package, channel, API and
//! label. Manifests are not kept; they are asked for when a bundle is installed. A
//! [`SnapshotSet`] joins snapshots of several catalogs into one
//! [`Universe`](olm_types::bundle::Universe). [`SnapshotSet::of_folder`] is the way from a folder to a
//! universe without a server.

mod builder;
mod catalog;
mod convert;
mod cost;
mod dependencies;
mod folder;
mod intern;
mod limits;
mod set;
#[cfg(test)]
mod tests;

pub use builder::SnapshotBuilder;
pub use catalog::{CatalogSnapshot, ChannelSummary, PackageSummary, SkippedBundle};
pub use folder::FolderError;
pub use limits::{LimitExceeded, SnapshotLimits};
pub use set::{Member, SnapshotSet};
