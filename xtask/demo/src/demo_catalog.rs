//! The demo's catalog, made from the readable sources in `demo/`.

use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

use xtask::workspace;

/// What the catalog holds: it is published twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Edition {
    /// With the first guestbook only
    First,
    /// With all that followed
    #[default]
    Update,
}

impl Edition {
    /// The folders in `demo/` whose files make it; later ones are laid over earlier ones.
    fn sources(self) -> &'static [&'static str] {
        match self {
            Self::First => &["first"],
            Self::Update => &["first", "update"],
        }
    }

    /// The name of the edition.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Update => "update",
        }
    }
}

/// Writes an edition of the demo's file-based catalog into the folder `out`.
///
/// # Errors
/// The sources in `demo/` make no catalog, or `out` cannot be written.
pub fn write(edition: Edition, out: &Path) -> Result<()> {
    let demo = workspace::root().join("demo");
    edition.sources().iter().try_for_each(|source| {
        olm_catalog::bundle::write_catalog(&demo.join(source), out)
            .context("make the demo's catalog")
    })
}
