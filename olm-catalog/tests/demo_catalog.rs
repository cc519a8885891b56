//! The catalog of the demo: it is valid and says what demo/README.md says.

use std::path::Path;

use olm_catalog::bundle::write_catalog;
use olm_catalog::fbc::ReadLimits;
use olm_catalog::index::Index;

/// The catalog as it is at first.
const FIRST: &[&str] = &["first"];

/// The catalog after its update.
const UPDATED: &[&str] = &["first", "update"];

/// A version of guestbook, a channel that has it, and the versions of its kind.
const GUESTBOOKS: [(&str, &str, &str); 5] = [
    ("guestbook.v1.0.0", "stable", "v1alpha1"),
    ("guestbook.v1.1.0", "stable", "v1alpha1 v1beta1"),
    ("guestbook.v1.2.0", "stable", "v1 v1alpha1 v1beta1"),
    ("guestbook.v1.3.0", "candidate", "v1 v1alpha1 v1beta1"),
    ("guestbook.v2.0.0", "next", "v1 v1alpha1 v1beta1"),
];

fn demo_index(sources: &[&str]) -> Index {
    let demo = Path::new("../demo");
    let out = tempfile::tempdir().unwrap();
    sources.iter().for_each(|source| write_catalog(&demo.join(source), out.path()).unwrap());
    Index::build(out.path(), &ReadLimits::default(), None).unwrap()
}

fn heads(index: &Index) -> Vec<(String, String)> {
    index
        .packages()
        .flat_map(|package| index.package(&package.name).unwrap().channels)
        .map(|channel| (channel.name, channel.csv_name))
        .collect()
}

fn owned<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(channel, head)| (channel.to_owned(), head.to_owned())).into()
}

#[test]
fn channels_and_heads_before_and_after_the_update() {
    let first = [("stable", "guestbook.v1.0.0"), ("stable", "kvstore.v1.0.0")];
    assert_eq!(heads(&demo_index(FIRST)), owned(first));
    let updated = [
        ("candidate", "guestbook.v1.3.0"),
        ("next", "guestbook.v2.0.0"),
        ("stable", "guestbook.v1.2.0"),
        ("stable", "kvstore.v1.0.0"),
    ];
    assert_eq!(heads(&demo_index(UPDATED)), owned(updated));
}

#[test]
fn every_guestbook_requires_what_kvstore_provides() {
    let index = demo_index(UPDATED);
    let bundles: Vec<_> = (0..index.len())
        .filter_map(|place| Some(index.listed(place)?.message().unwrap()))
        .collect();
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
fn newer_guestbooks_serve_more_versions_of_their_kind() {
    let index = demo_index(UPDATED);
    for (name, channel, expected) in GUESTBOOKS {
        let apis =
            index.bundle("guestbook", channel, name).unwrap().message().unwrap().provided_apis;
        let versions: Vec<_> = apis.into_iter().map(|api| api.version).collect();
        assert_eq!(versions.join(" "), expected, "{name}");
    }
}
