//! A bundle folder: a CSV and its metadata, between lines of equals signs.

#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use olm_catalog::bundle::{Migration, RegistryV1, migrate};
use olm_catalog::fbc::Rendered;

/// The files in the order of the input.
const FILES: [&str; 4] = [
    "manifests/csv.yaml",
    "metadata/annotations.yaml",
    "metadata/dependencies.yaml",
    "metadata/properties.yaml",
];

/// Where the bundle is.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder for the input");
    for part in ["manifests", "metadata"] {
        fs::create_dir(folder.path().join(part)).expect("a part of the bundle");
    }
    folder
});

fuzz_target!(|text: &str| {
    let mut parts = text.split("\n====\n");
    for file in FILES {
        let part = parts.next().unwrap_or_default();
        fs::write(FOLDER.path().join(file), part).expect("the input can be written");
    }
    let blob = RegistryV1::read(FOLDER.path()).and_then(|bundle| bundle.blob());
    let Ok(mut blob) = blob else { return };
    let _ = migrate(&mut blob, Migration::BundleObjectToCsvMetadata);
    Rendered::new(blob).expect("what is rendered is a blob");
});
