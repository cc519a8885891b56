//! Programs of the image that talk to a cluster.
//!
//! | called as | what it does |
//! |---|---|
//! | `opm alpha bundle extract` | puts a bundle folder into a ConfigMap (spec catalog-operator 5) |
//! | `configmap-server` | serves the catalog in a ConfigMap (spec catalog-operator 1.7) |
//!
//! The rules are pure: [`crate::bundle::config_map`] and [`legacy`].

mod cluster;
mod config_map_server;
mod extract;
pub mod legacy;

pub use config_map_server::ConfigMapServer;
pub use extract::{Alpha, Extract, FolderError, read_folder};
