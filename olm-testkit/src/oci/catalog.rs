//! Images of file-based catalogs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::ImageBuilder;

/// The label that says where a catalog is in its image.
pub const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";

/// An image with the catalog in a folder, below `/configs`, and nothing that runs.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn catalog(folder: &Path) -> Result<ImageBuilder> {
    add(ImageBuilder::default(), folder, "/configs").context("cannot read a catalog")
}

fn add(mut image: ImageBuilder, folder: &Path, to: &str) -> Result<ImageBuilder> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(Path::new).context("a file without a name")?;
        let place = format!("{to}/{}", name.display());
        image = match path.is_dir() {
            true => add(image, &path, &place)?,
            false => image.file(&place, fs::read(&path)?, 0o644),
        };
    }
    Ok(image)
}
