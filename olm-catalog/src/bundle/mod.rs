//! Bundles as folders of manifests, the blobs they become in a file-based catalog, and the
//! ConfigMaps they are unpacked into (spec catalog-operator 5, 6.6).

mod annotations;
pub mod config_map;
mod manifests;
mod render;
mod write;

pub use annotations::{ANNOTATIONS_BYTES, AnnotationsError, BundleAnnotations};
pub use manifests::{Manifest, ManifestError, read_folder};
pub use render::{RenderError, render};
pub use write::{WriteError, write_catalog};
