//! File-based catalogs (spec catalog-operator 6.4, 6.5).
//!
//! ```text
//! folder --read--> blobs --assemble--> draft --validate--> Catalog
//!                    |          |                 |
//!                    +----------+-----------------+--> every problem, with file and blob
//! ```
//! [`load`] does all of it. A [`Catalog`] that exists is valid.

mod assemble;
mod blob;
mod bundle;
mod deprecations;
mod error;
mod fields;
mod graph;
mod image_ref;
mod model;
mod names;
mod parse;
mod problem;
mod properties;
mod read;
mod release;
mod validate;
mod walk;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use blob::{
    Blob, BundleBlob, ChannelBlob, ChannelEntry, DeprecatedItem, DeprecationsBlob, Icon, Located,
    Meta, Origin, PackageBlob, RawProperty, RelatedImage,
};
pub use error::{CatalogError, ReadError};
pub use fields::FieldError;
pub use model::{Bundle, Catalog, Channel, Content, Package};
pub(crate) use names::is_key_component;
pub use problem::{Problem, Problems};
pub use properties::TypedProperties;
pub use read::read;
pub use walk::ReadLimits;

/// Reads and validates the catalog below `root`.
///
/// # Errors
/// Something cannot be read, or the catalog is not valid; all reasons are given.
pub fn load(root: &Path, limits: &ReadLimits) -> Result<Catalog, CatalogError> {
    Ok(validate(read(root, limits)?)?)
}

/// The catalog that blobs describe.
///
/// # Errors
/// The blobs do not make a valid catalog; all reasons are given.
pub fn validate(blobs: Vec<Located<Blob>>) -> Result<Catalog, Problems> {
    let mut problems = Problems::default();
    let mut catalog = assemble::assemble(blobs, &mut problems);
    validate::check(&mut catalog, &mut problems);
    if problems.is_empty() { Ok(catalog) } else { Err(problems) }
}
