//! Images, pulled or found on a disk, and looked into without a container runtime.
//!
//! ```text
//! reference + credentials --registry--> manifest --pull--> layers --layer--> tree of files
//!                                             '---fetch--> layers in files --> tree of places
//!                              path --layout--> manifest --> layers --layer--> tree of files
//! ```
//! Everything comes from strangers. What a registry sends is bounded in bytes and time and checked
//! against its digest; what layers hold is bounded in bytes, entries, depth and compression. Names
//! are in memory and links are followed there, so that no path in a layer leads anywhere on a disk;
//! what `fetch` copies out are plain files in folders that it makes.

mod catalog;
#[cfg(feature = "pull")]
mod credentials;
mod error;
#[cfg(feature = "pull")]
mod fetch;
mod layer;
mod layout;
mod limits;
mod manifest;
#[cfg(feature = "pull")]
mod mirrors;
#[cfg(feature = "pull")]
mod pull;
#[cfg(feature = "pull")]
mod reference;
#[cfg(feature = "pull")]
mod registry;
#[cfg(test)]
pub(crate) mod tests;
mod tree;

#[cfg(feature = "server")]
pub(crate) use catalog::CONFIGS;
pub use catalog::{DatabaseCatalog, catalog_folder};
pub use error::{ImageError, LayerError};
pub use layer::{Compression, FileLocation, apply};
#[cfg(feature = "server")]
pub(crate) use layout::is_image;
pub use layout::{labels as labels_on_disk, open};
pub use limits::Limits;
pub use manifest::Labels;
#[cfg(any(feature = "server", feature = "store", test))]
pub(crate) use tree::Unlistable;
pub use tree::{Tree, Unreadable};

#[cfg(feature = "pull")]
pub use credentials::{CredentialError, Credentials, Keychain};
#[cfg(feature = "pull")]
pub use fetch::{FetchedLayers, RemoteImage};
#[cfg(feature = "pull")]
pub use mirrors::{ConfigError, MirrorSet, Mirrors};
#[cfg(feature = "pull")]
pub use pull::{labels, pull};
#[cfg(feature = "pull")]
pub use reference::{ImageReference, ReferenceError};
#[cfg(feature = "pull")]
pub use registry::{Registry, RegistryOptions};
