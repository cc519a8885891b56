//! A file of a catalog: what is valid can be served, what is not is refused with a message.

#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use olm_catalog::fbc::{self, ReadLimits};
use olm_catalog::index::Index;

/// Where the file is.
static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a folder for the input"));

fuzz_target!(|input: &[u8]| {
    let root = FOLDER.path();
    fs::write(root.join("input.yaml"), input).expect("the input can be written");
    let limits = ReadLimits::default();
    let _ = fbc::render(root, &limits);
    match Index::build(root, &limits, None) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(index) => {
            for place in 0..index.len() {
                let listed =
                    index.listed(place).expect("an entry").message().expect("memory can be read");
                let (package, channel) = (&listed.package_name, &listed.channel_name);
                index.bundle(package, channel, &listed.csv_name).expect("what is listed is there");
                index.head(package, channel).expect("each channel has a head");
            }
        }
    }
});
