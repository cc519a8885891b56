//! From records of the protocol to entries (spec catalog-operator 3.2).

use olm_types::bundle::{BundleContent, CatalogKey};
use rstest::rstest;

use super::{CatalogSnapshot, LimitExceeded, SnapshotBuilder, SnapshotLimits};
use crate::registry::proto;

/// A snapshot of these bundles, which are all in package `p`, channel `c`.
fn snapshot(bundles: Vec<proto::Bundle>) -> CatalogSnapshot {
    let mut builder = SnapshotBuilder::new(CatalogKey::new("ns", "cat"), SnapshotLimits::default());
    for bundle in bundles {
        let placed = proto::Bundle { package_name: "p".into(), channel_name: "c".into(), ..bundle };
        builder.add(&placed).unwrap();
    }
    let package = proto::Package {
        name: "p".into(),
        default_channel_name: "c".into(),
        ..proto::Package::default()
    };
    for name in builder.packages() {
        builder.add_package(name, Ok(package.clone())).unwrap();
    }
    builder.finish()
}

fn named(name: &str) -> proto::Bundle {
    proto::Bundle { csv_name: name.into(), version: "1.0.0".into(), ..proto::Bundle::default() }
}

fn dependency(kind: &str, value: &str) -> proto::Dependency {
    proto::Dependency { r#type: kind.into(), value: value.into() }
}

fn api(kind: &str) -> proto::GroupVersionKind {
    proto::GroupVersionKind {
        group: "g".into(),
        version: "v1".into(),
        kind: kind.into(),
        plural: "things".into(),
    }
}

/// Properties of the only entry, as `type value` lines.
fn properties(bundle: proto::Bundle) -> Vec<String> {
    let snapshot = snapshot(vec![bundle]);
    let entry = &snapshot.entries()[0];
    entry
        .properties
        .iter()
        .map(|property| format!("{} {}", property.kind, property.value))
        .collect()
}

const PACKAGE: &str = r#"olm.package {"packageName":"p","version":"1.0.0"}"#;

#[rstest]
#[case(
    "olm.gvk",
    r#"{"group":"g","kind":"K","version":"v1","plural":"ks"}"#,
    r#"olm.gvk.required {"group":"g","kind":"K","version":"v1"}"#
)]
#[case(
    "olm.package",
    r#"{"packageName":"q","version":">1.0.0"}"#,
    r#"olm.package.required {"packageName":"q","versionRange":">1.0.0"}"#
)]
#[case("olm.label", r#"{"label":"l"}"#, r#"olm.label.required {"label":"l"}"#)]
#[case("olm.constraint", r#"{ "cel": {} }"#, r#"olm.constraint { "cel": {} }"#)]
fn dependencies_become_properties(#[case] kind: &str, #[case] value: &str, #[case] property: &str) {
    let dependencies = vec![dependency(kind, value), dependency("unknown", "{")];
    let bundle = proto::Bundle { dependencies, ..named("a") };
    assert_eq!(properties(bundle), [property, PACKAGE]);
}

#[test]
fn api_lists_stand_in_for_properties() {
    let bundle = proto::Bundle {
        provided_apis: vec![api("Z"), api("A")],
        required_apis: vec![api("R")],
        ..named("a")
    };
    let expected = [
        r#"olm.gvk {"group":"g","kind":"A","version":"v1"}"#,
        r#"olm.gvk {"group":"g","kind":"Z","version":"v1"}"#,
        r#"olm.gvk.required {"group":"g","kind":"R","version":"v1"}"#,
        PACKAGE,
    ];
    assert_eq!(properties(bundle), expected);
}

#[test]
fn properties_outrank_provided_apis() {
    let own = proto::Property { r#type: "olm.package".into(), value: "{}".into() };
    let bundle =
        proto::Bundle { properties: vec![own], provided_apis: vec![api("A")], ..named("a") };
    assert_eq!(properties(bundle), ["olm.package {}"]);
}

#[rstest]
#[case("olm.gvk", "{", "dependency 0 of type \"olm.gvk\" is malformed: EOF while parsing")]
#[case("olm.package", "[1]", "dependency 0 of type \"olm.package\" is malformed: invalid type")]
fn a_malformed_bundle_is_left_out(#[case] kind: &str, #[case] value: &str, #[case] reason: &str) {
    let bad = proto::Bundle { dependencies: vec![dependency(kind, value)], ..named("bad") };
    let snapshot = snapshot(vec![bad, named("good")]);
    assert_eq!(snapshot.entries().len(), 1);
    let skipped = &snapshot.skipped()[0];
    assert_eq!((skipped.package.as_str(), skipped.name.as_str()), ("p", "bad"));
    assert!(skipped.reason.starts_with(reason), "{}", skipped.reason);
}

#[rstest]
#[case("v1", Some("1.0.0"))]
#[case(" 01.2 ", Some("1.2.0"))]
#[case("1.2.3-rc.1+b", Some("1.2.3-rc.1+b"))]
#[case("", None)]
#[case("latest", None)]
fn versions_are_read_tolerantly(#[case] text: &str, #[case] version: Option<&str>) {
    let snapshot = snapshot(vec![proto::Bundle { version: text.into(), ..named("a") }]);
    let read = snapshot.entries()[0].version.as_ref().map(ToString::to_string);
    assert_eq!(read.as_deref(), version);
}

#[test]
fn an_unreadable_skip_range_is_none() {
    let skip_range = |range: &str| proto::Bundle { skip_range: range.into(), ..named("a") };
    let snapshot = snapshot(vec![skip_range(">v1"), skip_range(">=1.0.0"), skip_range("")]);
    let ranges = snapshot.entries().iter().map(|entry| entry.skip_range.is_some());
    assert_eq!(ranges.collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn content_is_an_image_or_inline() {
    let image = proto::Bundle { bundle_path: "quay.io/a".into(), ..named("a") };
    let snapshot = snapshot(vec![image, named("b")]);
    let content: Vec<_> = snapshot.entries().iter().map(|entry| entry.content.clone()).collect();
    assert_eq!(content, [BundleContent::Image("quay.io/a".into()), BundleContent::Inline]);
}

#[test]
fn bundles_of_a_refused_package_are_left_out() {
    let mut builder = SnapshotBuilder::new(CatalogKey::new("ns", "cat"), SnapshotLimits::default());
    for package in ["refused", "unasked"] {
        let bundle = proto::Bundle { package_name: package.into(), ..named("a") };
        builder.add(&bundle).unwrap();
    }
    builder.add_package("refused".into(), Err("gone".to_owned())).unwrap();
    let snapshot = builder.finish();
    let reasons: Vec<_> = snapshot.skipped().iter().map(|it| it.reason.as_str()).collect();
    let expected =
        ["the catalog did not give its package: gone", "the catalog was not asked for its package"];
    assert_eq!(reasons, expected);
    assert!(snapshot.entries().is_empty());
}

#[test]
fn reasons_are_bounded_and_all_are_counted() {
    let bad = proto::Bundle { dependencies: vec![dependency("olm.gvk", "{")], ..named("bad") };
    let snapshot = snapshot(vec![bad; 250]);
    assert_eq!((snapshot.skipped().len(), snapshot.skipped_count()), (100, 250));
}

/// Skips, APIs of a shared list, and channels are kept for each entry or package: they count.
#[test]
fn what_is_kept_again_and_again_is_counted() {
    let limits = SnapshotLimits { kept_bytes: 1 << 20, ..SnapshotLimits::default() };
    let added = |bundle: &dyn Fn(usize) -> proto::Bundle| {
        let mut builder = SnapshotBuilder::new(CatalogKey::new("ns", "cat"), limits);
        (0..10_000).take_while(|number| builder.add(&bundle(*number)).is_ok()).count()
    };
    assert!((1_000..5_000).contains(&added(&|_| named("a"))), "entries");
    let skips = |_| proto::Bundle { skips: vec![String::new(); 1_000], ..named("a") };
    assert!((1..100).contains(&added(&skips)), "skips");
    let apis = |_| proto::Bundle { provided_apis: vec![api("A"); 1_000], ..named("a") };
    assert!((1..100).contains(&added(&apis)), "positions in an index");
    let mut builder = SnapshotBuilder::new(CatalogKey::new("ns", "cat"), limits);
    let channel = |number: usize| proto::Channel { name: number.to_string(), ..Default::default() };
    let channels = (0..20_000).map(channel).collect();
    let package = proto::Package { channels, ..proto::Package::default() };
    let exceeded = builder.add_package("p".into(), Ok(package)).unwrap_err();
    assert_eq!(exceeded, LimitExceeded::KeptBytes(1 << 20));
}

#[test]
fn reasons_are_short() {
    let long = "x".repeat(5_000);
    let bad = proto::Bundle { dependencies: vec![dependency("olm.gvk", "{")], ..named(&long) };
    let snapshot = snapshot(vec![bad]);
    assert_eq!(snapshot.skipped()[0].name.len(), 1024);
}
