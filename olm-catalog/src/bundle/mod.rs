//! Bundles as folders of manifests, and the blobs they become in a file-based catalog
//! (spec catalog-operator 6.6).

mod manifests;
mod render;
mod write;

pub use manifests::{Manifest, ManifestError, read_folder};
pub use render::{RenderError, render};
pub use write::{WriteError, write_catalog};
