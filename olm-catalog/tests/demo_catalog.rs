//! The catalog of the demo: it is valid and says what demo/README.md says.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use olm_catalog::bundle::write_catalog;
use olm_catalog::fbc::{self, ReadLimits};
use olm_catalog::index::Index;

fn demo_index() -> Index {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let out = tempfile::tempdir().unwrap();
    write_catalog(&source, out.path()).unwrap();
    Index::new(fbc::load(out.path(), &ReadLimits::default()).unwrap())
}

#[test]
fn packages_channels_and_heads() {
    let index = demo_index();
    let heads: Vec<_> = index
        .packages()
        .flat_map(|package| index.package(&package.name).unwrap().channels)
        .map(|channel| (channel.name, channel.csv_name))
        .collect();
    let expected = [
        ("candidate", "guestbook.v1.2.0"),
        ("stable", "guestbook.v1.1.0"),
        ("stable", "kvstore.v1.0.0"),
    ];
    assert_eq!(heads, expected.map(|(channel, head)| (channel.to_owned(), head.to_owned())));
}

#[test]
fn every_guestbook_requires_what_kvstore_provides() {
    let index = demo_index();
    let bundles: Vec<_> = (0..index.len()).filter_map(|place| index.listed(place)).collect();
    let stores: Vec<_> = bundles
        .iter()
        .filter(|bundle| bundle.package_name == "kvstore")
        .flat_map(|bundle| bundle.provided_apis.clone())
        .collect();
    assert_eq!(stores.len(), 1);
    for guestbook in bundles.iter().filter(|bundle| bundle.package_name == "guestbook") {
        assert_eq!(guestbook.required_apis, stores, "{}", guestbook.csv_name);
    }
}

#[test]
fn each_newer_guestbook_provides_one_more_version() {
    let index = demo_index();
    let versions = |name: &str| {
        let channel = if name == "guestbook.v1.0.0" { "stable" } else { "candidate" };
        let apis = index.bundle("guestbook", channel, name).unwrap().provided_apis;
        apis.into_iter().map(|api| api.version).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(versions("guestbook.v1.0.0"), "v1alpha1");
    assert_eq!(versions("guestbook.v1.1.0"), "v1alpha1 v1beta1");
    assert_eq!(versions("guestbook.v1.2.0"), "v1 v1alpha1 v1beta1");
}
