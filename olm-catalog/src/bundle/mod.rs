//! Bundles as folders of manifests, the blobs they become in a file-based catalog, and the
//! ConfigMaps they are unpacked into (spec catalog-operator 5, 6.6).

mod annotations;
pub mod config_map;
mod manifests;
mod render;
#[cfg(feature = "image")]
mod unpack;
mod write;

pub(crate) use annotations::ANNOTATIONS_BYTES;
pub use annotations::{AnnotationsError, BundleAnnotations};
pub use manifests::{Manifest, ManifestError, read_folder};
pub use render::{
    BundleError, ImageTemplate, MetadataError, Migration, MigrationError, RegistryV1, RenderError,
    TemplateError, is_bundle, migrate, render,
};
#[cfg(feature = "image")]
pub use unpack::{UnpackError, unpack};
pub use write::{WriteError, write_catalog};
