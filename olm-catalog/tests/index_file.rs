//! Indexes in files: the same answers as from memory, and no damage goes unnoticed.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs::{self, File};

use olm_catalog::fbc::{ReadLimits, SourceDigest};
use olm_catalog::index::Index;
use proptest::prelude::*;
use support::catalog_folder;

/// An index of the catalog `etcd`, and the bytes of its file.
fn written() -> (Index, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    let root = catalog_folder("etcd");
    let built = Index::build(&root, &ReadLimits::default(), Some(file)).unwrap();
    (built, fs::read(&path).unwrap())
}

fn open(bytes: &[u8]) -> Result<Index, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    fs::write(&path, bytes).unwrap();
    Index::open(File::open(&path).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn an_index_that_was_closed_answers_as_before() {
    let (built, bytes) = written();
    let opened = open(&bytes).unwrap();
    let memory = Index::build(&catalog_folder("etcd"), &ReadLimits::default(), None).unwrap();
    assert_eq!(opened.len(), 8);
    for place in 0..opened.len() {
        let listed = opened.listed(place).unwrap().unwrap();
        assert_eq!(built.listed(place).unwrap().as_ref(), Some(&listed));
        assert_eq!(memory.listed(place).unwrap().as_ref(), Some(&listed));
        let names = (&listed.package_name, &listed.channel_name, &listed.csv_name);
        let whole = opened.bundle(names.0, names.1, names.2).unwrap();
        assert_eq!(built.bundle(names.0, names.1, names.2).unwrap(), whole);
        assert_eq!(memory.bundle(names.0, names.1, names.2).unwrap(), whole);
    }
    assert_eq!(opened.listed(opened.len()), Ok(None));
    assert_eq!(
        opened.meta("custom.operator.io", "etcd", 1),
        built.meta("custom.operator.io", "etcd", 1)
    );
}

#[test]
fn an_index_knows_what_it_was_made_from() {
    let (built, bytes) = written();
    let digest = SourceDigest::of(&catalog_folder("etcd"), &ReadLimits::default()).unwrap();
    assert_eq!(built.sources(), Some(&digest));
    assert_eq!(open(&bytes).unwrap().sources(), Some(&digest));
}

#[test]
fn a_file_that_is_no_index_is_refused() {
    for bytes in [vec![], vec![0; 10], vec![0; 1000]] {
        let error = open(&bytes).unwrap_err();
        assert!(error.starts_with("the index is damaged: "), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_change_is_noticed(place in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let (_, mut bytes) = written();
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        prop_assert!(open(&bytes).is_err());
        bytes[place] ^= flip;
        bytes.truncate(place);
        prop_assert!(open(&bytes).is_err());
    }
}
