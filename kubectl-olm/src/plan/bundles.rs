//! The manifests of a bundle: from its catalog, the ConfigMap that it was unpacked into, or a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use olm_catalog::bundle::{RegistryV1, is_bundle};
use olm_lifecycle::unpack::UnpackedBundle;
use olm_plan::preview::{Content, Known};
use olm_types::bundle::{BundleContent, Entry};

use super::live::Reader;
use super::{Catalogs, Sources};

/// How deep bundles may lie below the folder that is named.
const DEPTH: usize = 4;

/// The manifests of a bundle, or where they are.
pub async fn read(
    entry: &Entry,
    known: &Known,
    catalogs: &Catalogs,
    sources: &Sources,
    reader: &mut Option<&mut Reader<'_>>,
) -> Content {
    if let Some(found) = sources.bundles.as_deref().and_then(|folder| in_folder(folder, entry)) {
        return Content::Read(Arc::new(found));
    }
    match &entry.content {
        BundleContent::Inline => match catalogs.bundle(entry).await {
            Ok(found) => Content::Read(Arc::new(found)),
            Err(error) => Content::Unknown(format!("{error:#}")),
        },
        BundleContent::Image(image) => {
            let stored = match reader {
                Some(reader) => reader.unpacked(entry, image).await,
                None => super::live::unpacked_in(known, entry, image),
            };
            match stored {
                Some(found) => Content::Read(Arc::new(found)),
                None => Content::Unknown(format!("bundle image {image}")),
            }
        }
    }
}

/// The bundle of that name below a folder.
fn in_folder(folder: &Path, entry: &Entry) -> Option<UnpackedBundle> {
    let mut found = Vec::new();
    bundles_below(folder, DEPTH, &mut found);
    found.sort();
    found.iter().find_map(|folder| {
        let bundle = RegistryV1::read(folder).ok()?.message().ok()?;
        (bundle.csv_name == *entry.name).then_some(UnpackedBundle {
            csv_name: bundle.csv_name,
            csv_json: bundle.csv_json,
            objects: bundle.object,
        })
    })
}

fn bundles_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if is_bundle(folder) {
        return found.push(folder.to_owned());
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| depth > 0 && path.is_dir()) {
        bundles_below(&path, depth - 1, found);
    }
}
