//! Details of packages.

use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Property};
use rstest::rstest;
use serde_json::{from_value, json};

use super::*;

fn status() -> PackageManifestStatus {
    let head = json!({"version": "2.0.0", "displayName": "A", "description": "All about A",
        "installModes": [{"type": "AllNamespaces", "supported": true},
            {"type": "OwnNamespace", "supported": false}],
        "customresourcedefinitions": {"owned": [{"name": "as.x.io", "version": "v1", "kind": "A"}]}});
    let channel = |name: &str, csv: &str, entries: &[&str]| {
        let entries: Vec<_> = entries
            .iter()
            .map(|version| json!({"name": format!("a.v{version}"), "version": version}))
            .collect();
        json!({"name": name, "currentCSV": csv, "currentCSVDesc": head, "entries": entries})
    };
    from_value(json!({"catalogSource": "c", "catalogSourceDisplayName": "",
        "catalogSourcePublisher": "", "catalogSourceNamespace": "olm", "packageName": "a",
        "provider": {}, "defaultChannel": "stable", "channels": [
            channel("fast", "a.v3.0.0", &["3.0.0", "2.0.0"]),
            channel("stable", "a.v2.0.0", &["2.0.0", "1.0.0"])]}))
    .unwrap()
}

#[rstest]
#[case::default(None, None, "stable a.v2.0.0")]
#[case::channel(Some("fast"), None, "fast a.v3.0.0")]
#[case::version(None, Some("1.0.0"), "stable a.v1.0.0")]
#[case::csv(None, Some("a.v1.0.0"), "stable a.v1.0.0")]
#[case::elsewhere(None, Some("3.0.0"), "fast a.v3.0.0")]
#[case::nowhere(
    Some("stable"),
    Some("3.0.0"),
    "package a has no version 3.0.0 there, but a.v2.0.0, a.v1.0.0"
)]
#[case::no_channel(Some("slow"), None, "package a has no channel slow, but fast, stable")]
fn a_bundle_is_chosen(
    #[case] channel: Option<&str>,
    #[case] version: Option<&str>,
    #[case] expected: &str,
) {
    let status = status();
    let found = match chosen(&status, channel, version) {
        Ok((channel, csv)) => format!("{} {csv}", channel.name),
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_package_says_what_was_read_and_no_more() {
    let status = status();
    let (channel, csv) = chosen(&status, None, None).unwrap();
    let alone = details(&status, (channel, &csv), &[], None, None);
    assert_eq!(alone.bundle.install_modes, ["AllNamespaces"]);
    assert_eq!(alone.bundle.provides, ["A.v1 (as.x.io)"]);
    assert_eq!((alone.bundle.rights, alone.bundle.dependencies), (None, None));
    let names: Vec<&str> = alone.channels.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["stable", "fast"]);
}

#[test]
fn dependencies_are_in_the_resolvers_words() {
    let entry = Entry {
        name: "a.v1".into(),
        package: "a".into(),
        channel: "stable".into(),
        catalog: CatalogKey::new("olm", "c"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: vec![
            Property::new("olm.package", r#"{"packageName":"a","version":"1.0.0"}"#),
            Property::new("olm.package.required", r#"{"packageName":"b","versionRange":">1.0.0"}"#),
            Property::new("olm.gvk.required", "5"),
        ]
        .into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    };
    let found = dependencies(&entry);
    assert_eq!(found.len(), 2);
    assert!(found[0].starts_with("an operator ") && found[0].contains("b"), "{found:?}");
    assert!(found[1].starts_with("a malformed olm.gvk.required"), "{found:?}");
}
