//! File-based catalogs (spec catalog-operator 6.4, 6.5).
//!
//! ```text
//! folder --read--> blobs --assemble--> draft --validate--> Catalog
//!                    |  \       |                 |
//!                    |   +-> Contents             |
//!                    +----------+-----------------+--> every problem, with file and blob
//! ```
//! [`load`] does all of it. A [`Catalog`] that exists is valid. Blobs are read one at a time, and
//! what only readers of single bundles need goes to a [`Contents`], so memory is bounded by the
//! largest blob and the number of names.

mod assemble;
mod blob;
mod bundle;
mod deprecations;
mod digest;
mod error;
mod fields;
mod graph;
mod ignore;
mod model;
mod names;
mod pipeline;
mod problem;
mod properties;
mod read;
mod release;
mod render;
mod stamp;
#[cfg(test)]
mod tests;
mod validate;
mod walk;
mod weight;
#[cfg(feature = "server")]
mod yaml;

use std::path::Path;

use assemble::Assembler;

pub use blob::{
    Blob, BundleBlob, ChannelBlob, ChannelEntry, DeprecatedItem, DeprecationsBlob, Icon, Located,
    Meta, Origin, PackageBlob, RawProperty, RelatedImage,
};
pub(crate) use bundle::read as read_bundle;
pub use digest::SourceDigest;
pub use error::{CatalogError, ReadError};
pub use fields::FieldError;
pub(crate) use fields::Fields;
pub use model::{Bundle, BundleContent, Catalog, Channel, Contents, Package};
pub(crate) use names::{KEY_COMPONENT, is_key_component};
pub use olm_types::image_ref;
pub use problem::{Problem, Problems};
pub use properties::TypedProperties;
pub use read::{ReadLimits, read};
pub(crate) use render::MANIFESTS;
pub use render::{Rendered, render};
pub use stamp::SourceStamp;

#[cfg(feature = "server")]
pub(crate) use yaml::write_yaml;

/// Reads and validates the catalog below `root`.
///
/// # Errors
/// Something cannot be read, or the catalog is not valid; all reasons are given.
pub fn load(root: &Path, limits: &ReadLimits) -> Result<Catalog, CatalogError> {
    load_into(root, limits, &mut ()).map(|(catalog, _)| catalog)
}

/// Like [`load`]; the content of blobs goes to `contents`. Also gives the digest of what was read.
///
/// # Errors
/// As [`load`], and when content cannot be kept.
pub fn load_into(
    root: &Path,
    limits: &ReadLimits,
    contents: &mut dyn Contents,
) -> Result<(Catalog, SourceDigest), CatalogError> {
    let mut assembler = Assembler::new(contents);
    let digest = read(root, limits, &mut |blob| {
        assembler.add(blob)?;
        if assembler.weight() > limits.names {
            return Err(CatalogError::Unreadable(vec![ReadError::TooManyNames(limits.names)]));
        }
        Ok(())
    })?;
    Ok((conclude(assembler)?, digest))
}

/// The catalog that blobs describe; their content goes to `contents`.
///
/// # Errors
/// The blobs do not make a valid catalog (all reasons are given), or content cannot be kept.
pub fn validate(
    blobs: impl IntoIterator<Item = Located<Blob>>,
    contents: &mut dyn Contents,
) -> Result<Catalog, CatalogError> {
    let mut assembler = Assembler::new(contents);
    blobs.into_iter().try_for_each(|blob| assembler.add(blob))?;
    Ok(conclude(assembler)?)
}

fn conclude(assembler: Assembler<'_>) -> Result<Catalog, Problems> {
    let (mut catalog, mut problems) = assembler.finish();
    validate::check(&mut catalog, &mut problems);
    if problems.is_empty() { Ok(catalog) } else { Err(problems) }
}
