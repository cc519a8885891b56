//! Where a catalog is in its image, as the image's labels say.

use thiserror::Error;

use super::Labels;

/// Label: the folder of the catalog.
pub(crate) const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";
/// Label: the database of a catalog of the older kind.
const DATABASE: &str = "operators.operatorframework.io.index.database.v1";

/// The catalog is in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it is a catalog in a SQLite database, which is not supported: migrate it with opm")]
pub struct DatabaseCatalog;

/// The folder of the catalog in an image with these labels; none when it is none of a catalog.
///
/// # Errors
/// The catalog is a database.
pub fn catalog_folder(labels: &Labels) -> Result<Option<&str>, DatabaseCatalog> {
    if labels.contains_key(DATABASE) {
        return Err(DatabaseCatalog);
    }
    Ok(labels.get(CONFIGS).map(|folder| folder.trim_matches('/')))
}
