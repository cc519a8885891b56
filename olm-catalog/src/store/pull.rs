//! From the image of a catalog to content in a store.

use std::path::Path;
use std::time::{Duration, Instant};

use olm_tasks::blocking;
use olm_types::bundle::CatalogKey;
use tokio::time::timeout_at;

use super::workspace::Workspace;
use super::{CatalogStore, PullError, StoredContent};
use crate::fbc::ReadLimits;
use crate::image::{
    FetchedLayers, FileLocation, ImageError, ImageReference, Keychain, Limits, Registry,
    RemoteImage, Tree, Unlistable, catalog_folder,
};
use crate::index::Index;
use crate::snapshot::CatalogSnapshot;

/// What an index takes at most for each byte of a catalog: texts in it are kept as they are, or
/// decoded.
const INDEX_SHARE: u64 = 2;

/// What the names of a catalog's files may take in memory, in bytes, beside those of all files of its image.
const FILE_NAMES: u64 = 4 << 20;

/// What is pulled, and how.
#[derive(Clone, Debug)]
pub struct PullOptions {
    /// The CatalogSource.
    pub catalog: CatalogKey,
    /// What is pulled, as it is recorded: image, digest, and folder, if it is not the one that the
    /// image's label names.
    pub content: StoredContent,
    /// With which credentials.
    pub keychain: Keychain,
    /// Bounds on the image.
    pub limits: Limits,
    /// Bounds on the catalog in it.
    pub read: ReadLimits,
    /// How long it may take in all, the index included.
    pub time: Duration,
}

impl PullOptions {
    /// The time of a pull by the operator, from when it has its place.
    pub const TIME: Duration = Duration::from_secs(600);
}

/// A catalog that was pulled.
#[derive(Debug)]
pub struct Pulled {
    /// What is served.
    pub index: Index,
    /// What a resolver uses.
    pub snapshot: CatalogSnapshot,
}

/// Pulls the image of a catalog, indexes the catalog, and keeps it. Nothing but valid catalogs is
/// kept. What this takes of memory is bounded by what `limits` and `read` say.
///
/// # Errors
/// The image is unavailable, too large, or not what its digest says; there is no valid catalog in
/// it; or the disk takes no more.
pub async fn pull(
    store: &CatalogStore,
    registry: &Registry,
    options: PullOptions,
) -> Result<Pulled, PullError> {
    let until = Instant::now() + options.time;
    let late = || PullError::Late(options.time);
    let fetched = fetch(store, registry, &options);
    let (workspace, layers, folder) =
        timeout_at(until.into(), fetched).await.map_err(|_| late())??;
    let (store, limits) = (store.clone(), Limits { until: Some(until), ..options.limits });
    blocking(move || index(&store, workspace, &layers, &folder, &options, &limits)).await?
}

/// Fetches the layers into a folder; also says where the catalog is in them.
async fn fetch(
    store: &CatalogStore,
    registry: &Registry,
    options: &PullOptions,
) -> Result<(Workspace, FetchedLayers, String), PullError> {
    let PullOptions { content, keychain, limits, .. } = options;
    let image: ImageReference = content.image.parse()?;
    let image = image.at(&content.digest);
    let mut remote = RemoteImage::open(registry, &image, keychain, limits).await?;
    let folder = match &content.folder {
        Some(folder) => folder.clone(),
        None => {
            let labels = remote.labels().await?;
            catalog_folder(&labels)?.ok_or(PullError::NoCatalog)?.to_owned()
        }
    };
    let mut workspace = store.workspace()?;
    workspace.reserve(remote.transferred())?;
    let layers = remote.fetch(&workspace.layers()).await?;
    Ok((workspace, layers, folder))
}

/// Takes the catalog out of the layers, and makes content of it.
fn index(
    store: &CatalogStore,
    mut workspace: Workspace,
    layers: &FetchedLayers,
    folder: &str,
    options: &PullOptions,
    limits: &Limits,
) -> Result<Pulled, PullError> {
    let bytes = copy(&mut workspace, layers, folder, limits)?;
    workspace.remove(&workspace.layers())?;
    workspace.reserve(bytes.saturating_mul(1 + INDEX_SHARE))?;
    let indexed = indexed(&workspace, options, limits);
    // What is found after the time is over may be due to that alone.
    if limits.is_late() {
        return Err(PullError::Late(options.time));
    }
    let pulled = indexed?;
    workspace.remove(&workspace.files())?;
    store.add(&options.catalog, &options.content, workspace)?;
    Ok(pulled)
}

/// Indexes the files of the catalog.
fn indexed(
    workspace: &Workspace,
    options: &PullOptions,
    limits: &Limits,
) -> Result<Pulled, PullError> {
    let read = ReadLimits { until: limits.until, ..options.read };
    let index = Index::build(&workspace.files(), &read, Some(workspace.index()?))?;
    let snapshot = CatalogSnapshot::of_index(options.catalog.clone(), &index)?;
    Ok(Pulled { index, snapshot })
}

/// Copies the files of the catalog, and says how many bytes they have.
fn copy(
    workspace: &mut Workspace,
    layers: &FetchedLayers,
    folder: &str,
    limits: &Limits,
) -> Result<u64, PullError> {
    let tree = layers.list(limits)?;
    let files = chosen(&tree, folder, limits)?;
    drop(tree);
    let bytes = files.iter().fold(0_u64, |sum, (_, place)| sum.saturating_add(place.size));
    if bytes > limits.kept {
        let what = "the catalog".to_owned();
        return Err(ImageError::TooMuch { what, limit: limits.kept, unit: "bytes" }.into());
    }
    let transferred = folder_bytes(&workspace.layers());
    workspace.reserve(transferred.saturating_add(bytes))?;
    layers.copy(&files, &workspace.files(), limits)?;
    Ok(bytes)
}

/// The files of the catalog.
fn chosen(
    tree: &Tree<FileLocation>,
    folder: &str,
    limits: &Limits,
) -> Result<Vec<(String, FileLocation)>, PullError> {
    let refused = |why: String| PullError::Folder { folder: folder.to_owned(), why };
    let real = tree.real(folder).map_err(|error| refused(format!("is unusable: {error}")))?;
    if !tree.is_folder(&real) {
        return Err(refused("is not there".to_owned()));
    }
    let files = tree.files_below(&real, FILE_NAMES).map_err(|why| match why {
        Unlistable::Large(path, size) => {
            let limit = limits.file;
            refused(format!("has a file {path} of {size} bytes, and one may have {limit}"))
        }
        Unlistable::Names(limit) => {
            refused(format!("has files whose names take more than {limit} bytes of memory"))
        }
    })?;
    Ok(files.into_iter().map(|(path, place)| (path, *place)).collect())
}

/// Bytes of the files in a folder.
fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}
