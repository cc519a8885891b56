//! Where a served index comes from: a folder in which it is kept, or a file without a name.
//!
//! The meaning of the flags is that of `opm serve`; the form of the index is our own. A folder
//! that holds a cache of `opm` alone is used as if it were empty: the catalog is indexed elsewhere,
//! since that folder belongs to an image that was made for `opm`.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::arguments::Serve;
use crate::fbc::{CatalogError, ReadLimits, SourceDigest};
use crate::index::Index;

/// Name of the index in its folder.
const FILE: &str = "olm-registry.index";

/// Files and folders of `opm`'s caches.
const OPM: [&str; 4] = ["pogreb.v1", "cache", "digest", "packages.json"];

/// Mode of an index: whoever serves it may be another user than the one who made it.
const MODE: u32 = 0o664;

/// What to do about the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Make it anew, and forget it at the end.
    Fresh,
    /// Use the one in the folder when it is right, else make it anew.
    Keep(PathBuf),
    /// Use the one in the folder, which must be right.
    Trust(PathBuf),
}

impl Plan {
    /// What the flags mean.
    ///
    /// # Errors
    /// The flags contradict each other.
    pub(super) fn of(arguments: &Serve) -> Result<Self> {
        let folder = &arguments.cache_dir;
        let named = !folder.is_empty();
        let enforce = arguments.cache_enforce_integrity.unwrap_or(named && !arguments.cache_only);
        match (named, enforce) {
            (false, true) => bail!("--cache-dir must be specified with --cache-enforce-integrity"),
            (false, false) => Ok(Self::Fresh),
            (true, true) => Ok(Self::Trust(folder.into())),
            (true, false) => Ok(Self::Keep(folder.into())),
        }
    }

    /// The index of the catalog below `root`.
    ///
    /// # Errors
    /// The catalog is not valid, or a trusted index is missing or wrong.
    pub(super) fn index(&self, root: &Path, limits: &ReadLimits) -> Result<Index> {
        match self {
            Self::Fresh => fresh(root, limits),
            Self::Keep(folder) => match intact(folder, root, limits) {
                Ok(index) => Ok(index),
                Err(reason) => {
                    tracing::info!("the index is made anew: {reason:#}");
                    keep(folder, root, limits)
                }
            },
            Self::Trust(folder) if is_foreign(folder) => {
                tracing::warn!(
                    folder = %folder.display(),
                    "the cache was made by opm and is not used: the catalog is indexed anew"
                );
                fresh(root, limits)
            }
            Self::Trust(folder) => intact(folder, root, limits).context("integrity check failed"),
        }
    }
}

/// The index in the folder, when it is whole and made from just these files. Both are looked at in
/// full, at the same time.
fn intact(folder: &Path, root: &Path, limits: &ReadLimits) -> Result<Index> {
    let path = folder.join(FILE);
    let file = File::open(&path)
        .map_err(|error| anyhow!("read existing cache digest: open {}: {error}", path.display()))?;
    let (index, computed) = std::thread::scope(|scope| {
        let digest = scope.spawn(|| SourceDigest::of(root, limits));
        let index = Index::open(file);
        (index, digest.join())
    });
    let index = index.with_context(|| path.display().to_string())?;
    let computed = computed
        .map_err(|_| anyhow!("the thread that reads the catalog ended early"))?
        .context("compute digest")?;
    let recorded = index.sources().map(ToString::to_string).unwrap_or_default();
    if recorded != computed.to_string() {
        bail!(
            "cache requires rebuild: cache reports digest as {recorded:?}, but computed digest is \
             {:?}",
            computed.to_string()
        );
    }
    Ok(index)
}

/// An index in a file that no other process sees and that vanishes with this process; in memory
/// where no file can be written, as on a full disk.
fn fresh(root: &Path, limits: &ReadLimits) -> Result<Index> {
    let built = match tempfile::tempfile() {
        Ok(file) => Index::build(root, limits, Some(file)),
        Err(error) => Err(CatalogError::Contents(error)),
    };
    match built {
        Err(CatalogError::Contents(error)) => {
            tracing::warn!(%error, "no temporary file can be written: the index is kept in memory");
            Ok(Index::build(root, limits, None)?)
        }
        built => Ok(built?),
    }
}

/// Makes the index in the folder anew; it takes its place when it is complete.
fn keep(folder: &Path, root: &Path, limits: &ReadLimits) -> Result<Index> {
    let writable = || -> io::Result<tempfile::NamedTempFile> {
        fs::create_dir_all(folder)?;
        tempfile::NamedTempFile::new_in(folder)
    };
    let partial = writable().with_context(|| format!("write to {}", folder.display()))?;
    let file = partial.reopen().context("open the index that is being written")?;
    let context = || format!("make the index in {}", folder.display());
    let index = Index::build(root, limits, Some(file)).with_context(context)?;
    partial.as_file().sync_all().context("write the index")?;
    fs::set_permissions(partial.path(), Permissions::from_mode(MODE))
        .context("let others read the index")?;
    partial.persist(folder.join(FILE)).context("move the index into place")?;
    Ok(index)
}

/// Whether the folder holds a cache of `opm` and none of ours.
fn is_foreign(folder: &Path) -> bool {
    !folder.join(FILE).exists() && OPM.iter().any(|name| folder.join(name).exists())
}
