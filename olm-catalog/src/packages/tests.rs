//! Packages as spec catalog-operator 9.12 wants them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use olm_types::api::PackageManifest;
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use olm_types::version::Version;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::snapshot::{ChannelSummary, PackageSummary};

fn catalog() -> CatalogFacts {
    CatalogFacts {
        key: CatalogKey::new("ns", "cool-operators"),
        display_name: "Cool Operators".to_owned(),
        publisher: "Cool".to_owned(),
        labels: BTreeMap::new(),
        created: None,
    }
}

fn csv(name: &str, labels: Value) -> Head {
    let csv = json!({
        "kind": "ClusterServiceVersion", "apiVersion": "operators.coreos.com/v1alpha1",
        "metadata": {"name": name, "labels": labels, "annotations": {"capabilities": "Basic"}},
        "spec": {
            "version": "0.9.2", "displayName": "etcd", "provider": {"name": "CoreOS, Inc"},
            "icon": [{"mediatype": "image/png", "base64data": STANDARD.encode("picture")}],
            "relatedImages": [{"name": "b", "image": "quay.io/b"}, {"name": "a", "image": "quay.io/a"}],
            "install": {"strategy": "deployment", "spec": {"deployments": [{"name": "d", "spec": {
                "selector": {}, "template": {"spec": {
                    "containers": [{"name": "c", "image": "quay.io/c"}],
                    "initContainers": [{"name": "i", "image": "quay.io/a"}],
                }},
            }}]}},
        },
    });
    Head::read(&csv.to_string()).unwrap()
}

fn package(default: &str, channels: &[(&str, &str)]) -> PackageSummary {
    let channels = channels.iter().map(|(channel, head)| {
        ((*channel).into(), ChannelSummary { head: (*head).into(), deprecation: None })
    });
    PackageSummary {
        channels: channels.collect(),
        default_channel: default.into(),
        deprecation: None,
    }
}

fn entry(channel: &str, name: &str, version: &str, properties: &[&str]) -> Arc<Entry> {
    let properties: Vec<_> = properties.iter().map(|kind| Property::new(kind, "{}")).collect();
    Arc::new(Entry {
        name: name.into(),
        package: "etcd".into(),
        channel: channel.into(),
        catalog: CatalogKey::new("ns", "cool-operators"),
        version: Version::parse(version).ok(),
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: false,
        properties: properties.into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    })
}

fn heads(names: &[&str]) -> Heads {
    names.iter().map(|name| ((*name).into(), csv(name, json!({})))).collect()
}

fn made(package: &PackageSummary, entries: &[Arc<Entry>], heads: &Heads) -> PackageManifest {
    manifest(&catalog(), "etcd", package, entries, heads).unwrap()
}

fn channels(manifest: &PackageManifest) -> Vec<&str> {
    let channels = &manifest.status.as_ref().unwrap().channels;
    channels.iter().map(|channel| channel.name.as_str()).collect()
}

#[test]
fn a_package_says_where_it_comes_from() {
    let manifest = made(&package("alpha", &[("alpha", "etcd.v1")]), &[], &heads(&["etcd.v1"]));
    let status = manifest.status.unwrap();
    assert_eq!(
        (status.catalog_source.as_str(), status.package_name.as_str()),
        ("cool-operators", "etcd")
    );
    assert_eq!(status.provider.unwrap().name.as_deref(), Some("CoreOS, Inc"));
    assert_eq!(manifest.metadata.namespace.as_deref(), Some("ns"));
    let labels = json!(manifest.metadata.labels);
    let expected = json!({
        "catalog": "cool-operators", "catalog-namespace": "ns", "provider": "CoreOS, Inc",
        "provider-url": "", "operatorframework.io/arch.amd64": "supported",
        "operatorframework.io/os.linux": "supported",
    });
    assert_eq!(labels, expected);
    let description = status.channels[0].current_csv_desc.as_ref().unwrap();
    assert_eq!(description.related_images, ["quay.io/a", "quay.io/b", "quay.io/c"]);
}

#[rstest]
#[case::sorted("alpha", &[("beta", "b"), ("alpha", "a")], &["a", "b"], &["alpha", "beta"], "alpha")]
#[case::head_missing("alpha", &[("alpha", "a"), ("beta", "b")], &["a"], &["alpha"], "alpha")]
#[case::default_head_missing("beta", &[("alpha", "a"), ("beta", "b")], &["a"], &["alpha"], "alpha")]
#[case::no_default("", &[("beta", "b"), ("alpha", "a")], &["a", "b"], &["alpha", "beta"], "alpha")]
fn channels_without_a_head_are_left_out(
    #[case] default: &str,
    #[case] listed: &[(&str, &str)],
    #[case] known: &[&str],
    #[case] expected: &[&str],
    #[case] expected_default: &str,
) {
    let manifest = made(&package(default, listed), &[], &heads(known));
    assert_eq!(channels(&manifest), expected);
    assert_eq!(manifest.status.unwrap().default_channel, expected_default);
}

#[test]
fn a_package_without_a_channel_is_none() {
    let made = manifest(&catalog(), "etcd", &package("a", &[("a", "x")]), &[], &Heads::new());
    assert_eq!(made.unwrap_err().to_string(), "packagemanifest has no valid channels");
}

#[rstest]
#[case::none(json!({}), &["operatorframework.io/arch.amd64", "operatorframework.io/os.linux"])]
#[case::both(
    json!({"operatorframework.io/os.windows": "supported", "operatorframework.io/arch.arm": "supported"}),
    &["operatorframework.io/arch.arm", "operatorframework.io/os.windows"]
)]
#[case::system(
    json!({"operatorframework.io/os.windows": "supported"}),
    &["operatorframework.io/arch.amd64", "operatorframework.io/os.windows"]
)]
#[case::architecture(
    json!({"operatorframework.io/arch.arm": "supported"}),
    &["operatorframework.io/arch.arm", "operatorframework.io/os.linux"]
)]
fn systems_and_architectures_are_assumed(#[case] own: Value, #[case] expected: &[&str]) {
    let heads = [("a".into(), csv("a", own))].into();
    let manifest = made(&package("alpha", &[("alpha", "a")]), &[], &heads);
    let labels = manifest.metadata.labels.unwrap();
    let found: Vec<_> = labels.keys().filter(|key| key.starts_with("operatorframework")).collect();
    assert_eq!(found, expected);
}

/// Of several that set the same label, the CSV counts most and the catalog least.
#[test]
fn labels_come_from_the_catalog_and_from_the_csv_of_the_default_channel() {
    let mut facts = catalog();
    let own = [("team", "kitchen"), ("catalog", "mine"), ("test", "catalog")];
    facts.labels = own.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let heads = [
        ("a".into(), csv("a", json!({"test": "label", "provider": "us"}))),
        ("b".into(), csv("b", json!({"test": "beta", "beta": "yes"}))),
    ];
    let summary = package("alpha", &[("alpha", "a"), ("beta", "b")]);
    let made = manifest(&facts, "etcd", &summary, &[], &heads.into()).unwrap();
    let labels = made.metadata.labels.unwrap();
    let label = |key| labels.get(key).map(String::as_str);
    assert_eq!(label("team"), Some("kitchen"));
    assert_eq!(label("catalog"), Some("cool-operators"));
    assert_eq!(label("test"), Some("label"));
    assert_eq!(label("provider"), Some("us"));
    assert_eq!(label("beta"), None);
}

#[test]
fn entries_are_sorted_by_version_and_deprecated_ones_hidden() {
    let entries = [
        entry("alpha", "etcd.v1", "1.0.0", &[]),
        entry("alpha", "etcd.none", "", &[]),
        entry("alpha", "etcd.v10", "10.0.0", &[]),
        entry("alpha", "etcd.v2", "2.0.0", &["olm.deprecated"]),
        entry("beta", "etcd.v3", "3.0.0", &[]),
    ];
    let manifest = made(&package("alpha", &[("alpha", "a")]), &entries, &heads(&["a"]));
    let channel = &manifest.status.as_ref().unwrap().channels[0];
    let names: Vec<_> = channel.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["etcd.v10", "etcd.v1", "etcd.none"]);
    assert_eq!(channel.entries[0].version.as_deref(), Some("10.0.0"));
}

#[test]
fn deprecations_are_passed_on() {
    let mut summary = package("alpha", &[("alpha", "a")]);
    summary.deprecation = Some("package".into());
    let alpha: Arc<str> = "alpha".into();
    summary.channels.get_mut(&alpha).unwrap().deprecation = Some("channel".into());
    let mut old = Entry::clone(&entry("alpha", "a", "1.0.0", &[]));
    old.deprecations.bundle = Some("bundle".into());
    let status = made(&summary, &[Arc::new(old)], &heads(&["a"])).status.unwrap();
    let said = |one: &Option<Deprecation>| one.clone().unwrap().message;
    assert_eq!(said(&status.deprecation), "package");
    assert_eq!(said(&status.channels[0].deprecation), "channel");
    assert_eq!(said(&status.channels[0].entries[0].deprecation), "bundle");
}

#[test]
fn a_packed_package_is_what_it_was_in_the_namespace_that_asks() {
    let manifest = made(&package("alpha", &[("alpha", "a")]), &[], &heads(&["a"]));
    let stored = StoredPackage::new(manifest.clone()).unwrap();
    let object: PackageManifest =
        serde_json::from_str(stored.object("elsewhere").unwrap().get()).unwrap();
    assert_eq!(object.metadata.namespace.as_deref(), Some("elsewhere"));
    assert_eq!(object.metadata.labels, manifest.metadata.labels);
    let mut status = manifest.status.unwrap();
    status.channels[0].current_csv_desc.as_mut().unwrap().icon.clear();
    assert_eq!(object.status.unwrap(), status, "all but the picture");
    let icon = stored.icon().unwrap();
    assert_eq!((&*icon.data, icon.media_type.as_str()), (&b"picture"[..], "image/png"));
    assert_eq!(icon.etag, "\"etcd.alpha.a\"");
    assert!(stored.bytes() < 4_096, "{}", stored.bytes());
}

#[rstest]
#[case::no_csv("", "the catalog has no CSV for it")]
#[case::no_json("{", "its CSV cannot be read: ")]
#[case::no_csv_at_all("[]", "its CSV cannot be read: ")]
fn bad_heads_say_what_is_wrong(#[case] text: &str, #[case] expected: &str) {
    let error = Head::read(text).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

/// Every channel shows the CSV at its head: a thousand channels with one head are a thousand copies.
#[test]
fn a_package_shows_what_fits() {
    let large = Head { bytes: SHOWN_BYTES / 2, ..csv("h", json!({})) };
    let heads: Heads = [("h".into(), large)].into();
    let names: Vec<String> = (0..1_000).map(|number| format!("c{number:03}")).collect();
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), "h")).collect();
    assert_eq!(channels(&made(&package("c900", &all), &[], &heads)), ["c000", "c900"]);
    assert_eq!(channels(&made(&package("none", &all), &[], &heads)), ["c000", "c001"]);
}

#[test]
fn a_csv_that_no_api_server_takes_is_not_read() {
    let error = Head::read(&format!("{{{}", " ".repeat(4 << 20))).unwrap_err();
    assert!(matches!(error, HeadError::TooLarge(_)), "{error}");
}
