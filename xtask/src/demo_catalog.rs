//! The demo's catalog, made from the readable sources in `demo/`.

use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace;

/// Writes the demo's file-based catalog into the folder `out`.
///
/// # Errors
/// The sources in `demo/` make no catalog, or `out` cannot be written.
pub fn write(out: &Path) -> Result<()> {
    olm_catalog::bundle::write_catalog(&workspace::root().join("demo"), out)
        .context("make the demo's catalog")
}
