//! Bundles in a folder that a flag names.

use std::path::{Path, PathBuf};

use olm_catalog::bundle::{RegistryV1, is_bundle};
use olm_lifecycle::unpack::UnpackedBundle;
use olm_types::bundle::Entry;

/// How deep bundles may lie below the folder that is named.
const DEPTH: usize = 4;

/// The bundle of that name below a folder.
pub(super) fn bundle(folder: &Path, entry: &Entry) -> Option<UnpackedBundle> {
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
