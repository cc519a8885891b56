//! Blobs as they are, with the place that they have in rendered output.

use std::path::Path;

use serde_json::Value;

use super::blob::{Blob, Located, Meta};
use super::error::CatalogError;
use super::limits::ReadLimits;
use super::read::{Refusal, read_documents};

/// A blob that may be rendered together with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// Where it belongs.
    pub key: RenderKey,
    /// The whole object.
    pub value: Value,
}

/// Order of rendered blobs. Blobs of equal keys stay in the order in which they were read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RenderKey {
    /// Blobs without a package come last.
    loose: bool,
    package: String,
    rank: u8,
    /// Name of a channel or bundle, schema of a blob that has no meaning here.
    name: String,
}

/// The blobs in the files below `root`, or in the file `root`, in the order of paths and documents.
/// They need not make a valid catalog.
///
/// # Errors
/// Something cannot be read or is no blob.
pub fn render(root: &Path, limits: &ReadLimits) -> Result<Vec<Rendered>, CatalogError> {
    let mut blobs = Vec::new();
    read_documents(root, limits, &mut |Located { item: value, .. }| {
        Blob::from_value(value.clone()).map_err(Refusal::Blob)?;
        let key = RenderKey::of(Meta::heading(&value).map_err(Refusal::Blob)?);
        blobs.push(Rendered { key, value });
        Ok(())
    })?;
    Ok(blobs)
}

impl RenderKey {
    fn of(heading: Meta) -> Self {
        let Meta { schema, package, name, .. } = heading;
        let (rank, package, name) = match schema.as_str() {
            "olm.package" => (0, name, String::new()),
            "olm.channel" => (1, package, name),
            "olm.bundle" => (2, package, name),
            "olm.deprecations" => (4, package, String::new()),
            _ => (3, package, schema),
        };
        Self { loose: package.is_empty(), package, rank, name }
    }
}
