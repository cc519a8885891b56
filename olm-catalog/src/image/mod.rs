//! Images, pulled or found on a disk, and looked into without a container runtime.
//!
//! ```text
//! reference + credentials --registry--> manifest --pull--> layers --layer--> tree of files
//!                              path --layout--> manifest --> layers --layer--> tree of files
//! ```
//! Everything comes from strangers. What a registry sends is bounded in bytes and time and checked
//! against its digest; what layers hold is bounded in bytes, entries, depth and compression. Files
//! are in memory and never on a disk, so that no path in a layer leads anywhere.

#[cfg(feature = "pull")]
mod credentials;
mod error;
mod layer;
mod layout;
mod limits;
mod manifest;
#[cfg(feature = "pull")]
mod pull;
#[cfg(feature = "pull")]
mod reference;
#[cfg(feature = "pull")]
mod registry;
#[cfg(test)]
mod tests;
mod tree;

pub use error::{ImageError, LayerError};
pub use layer::{Compression, apply};
pub(crate) use layout::is_image;
pub use layout::{labels as labels_on_disk, open};
pub use limits::Limits;
pub use manifest::Labels;
pub use tree::{Tree, Unreadable};

#[cfg(feature = "pull")]
pub use credentials::{CredentialError, Credentials, Keychain};
#[cfg(feature = "pull")]
pub use pull::{labels, pull};
#[cfg(feature = "pull")]
pub use reference::{ImageReference, ReferenceError};
#[cfg(feature = "pull")]
pub use registry::Registry;
