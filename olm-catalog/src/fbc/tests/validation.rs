//! The verdicts of spec catalog-operator 6.5 and 9.11.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use insta::assert_snapshot;
use rstest::rstest;

use super::{FOO, keep_files, load_yaml};

const SHA256: &str = "8ad2d7ddd04e4d4a4d6cba0a3c7e6dfe3d4b0b0f4bf1e3b8c4ad7f8a8d1f0c55";

/// The base catalog with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> String {
    assert!(FOO.contains(from), "{from}");
    FOO.replace(from, to)
}

/// The base catalog with more documents.
fn and(more: &str) -> String {
    format!("{FOO}---\n{more}\n")
}

fn assert_refused(yaml: &str, message: &str) {
    let error = load_yaml(yaml).unwrap_err();
    let line = error
        .lines()
        .any(|line| line.trim_start_matches(['├', '└', '│', '─', ' ']).starts_with(message));
    assert!(line, "expected {message}\nin {error}");
}

#[rstest]
#[case::package_without_name("{schema: olm.package}", "config contains package with no name")]
#[case::package_without_channels(
    "{schema: olm.package, name: bar}",
    "package must contain at least one channel"
)]
#[case::package_twice("{schema: olm.package, name: foo}", r#"duplicate package "foo""#)]
#[case::dots(
    "{schema: olm.package, name: foo.bar}",
    r#"invalid package name "foo.bar": [must not contain dots]"#
)]
#[case::upper_case(
    "{schema: olm.package, name: Foo}",
    r#"invalid package name "Foo": [a lowercase RFC 1123 label must consist of"#
)]
#[case::channel_of_unknown_package(
    "{schema: olm.channel, package: nope, name: c}",
    r#"unknown package "nope" for channel "c""#
)]
#[case::channel_without_name(
    "{schema: olm.channel, package: foo}",
    r#"package "foo" contains channel with no name"#
)]
#[case::channel_twice(
    "{schema: olm.channel, package: foo, name: alpha}",
    r#"package "foo" has duplicate channel "alpha""#
)]
#[case::empty_channel(
    "{schema: olm.channel, package: foo, name: beta}",
    "channel must contain at least one bundle"
)]
#[case::entry_twice(
    "{schema: olm.channel, package: foo, name: beta, entries: [{name: foo.v0.1.0}, {name: foo.v0.1.0}]}",
    r#"invalid package "foo", channel "beta": duplicate entry "foo.v0.1.0""#
)]
#[case::entry_without_bundle(
    "{schema: olm.channel, package: foo, name: beta, entries: [{name: b, replaces: a}, {name: a}]}",
    r#"no olm.bundle blobs found in package "foo" for olm.channel entries [a b]"#
)]
#[case::bundle_without_package(
    "{schema: olm.bundle, name: b}",
    r#"package name must be set for bundle "b""#
)]
#[case::bundle_of_unknown_package(
    "{schema: olm.bundle, name: b, package: nope}",
    r#"unknown package "nope" for bundle "b""#
)]
#[case::bundle_twice(
    "{schema: olm.bundle, name: foo.v0.1.0, package: foo}",
    r#"package "foo" has duplicate bundle "foo.v0.1.0""#
)]
#[case::bundle_in_no_channel(
    "{schema: olm.bundle, name: b, package: foo}",
    r#"package "foo", bundle "b" not found in any channel entries"#
)]
#[case::meta_that_is_a_path(
    "{schema: ../x}",
    r#"invalid custom schema meta: invalid schema "../x": must match ^[a-zA-Z0-9][a-zA-Z0-9._-]*$"#
)]
fn references(#[case] more: &str, #[case] message: &str) {
    assert_refused(&and(more), message);
}

#[rstest]
#[case::no_default_channel(", defaultChannel: alpha", "", "default channel must be set")]
#[case::unknown_default_channel(
    "defaultChannel: alpha",
    "defaultChannel: nope",
    r#"default channel "nope" not found in channels list"#
)]
#[case::no_package_property(
    "type: olm.package",
    "type: other",
    r#"package "foo" bundle "foo.v0.1.0" must have exactly 1 "olm.package" property, found 0"#
)]
#[case::other_package(
    "packageName: foo",
    "packageName: bar",
    r#"package "foo" does not match "olm.package" property "bar""#
)]
#[case::property_of_wrong_type(
    "packageName: foo",
    "packageName: 1",
    r#"parse properties for bundle "foo.v0.1.0": parse property[0] of type "olm.package": field "packageName" must be a text"#
)]
#[case::four_numbers(
    "version: 0.1.0",
    "version: 0.1.0.1",
    r#"error parsing bundle "foo.v0.1.0" version "0.1.0.1": Invalid character(s) found in patch number "0.1""#
)]
#[case::no_version(
    "version: 0.1.0",
    "version: ''",
    r#"error parsing bundle "foo.v0.1.0" version "": Version string empty"#
)]
#[case::bad_release(
    "version: 0.1.0",
    "version: 0.1.0, release: '!!!'",
    r#"error parsing bundle "foo.v0.1.0" release version "!!!": invalid release "!!!": segment 0: Invalid character(s) found in prerelease "!!!""#
)]
#[case::name_without_release(
    "version: 0.1.0",
    "version: 0.1.0, release: alpha.1.0.0",
    r#"name "foo.v0.1.0" does not match normalized name "foo-v0.1.0-alpha.1.0.0""#
)]
#[case::release_and_build(
    "version: 0.1.0",
    "version: 0.1.0+a, release: b",
    "cannot use build metadata in version with a release version"
)]
#[case::no_image("image: quay.io/foo/foo:v0.1.0", "image: ''", "bundle image must be set")]
#[case::short_digest(
    "foo:v0.1.0",
    "foo@sha256:0123",
    r#"package "foo" bundle "foo.v0.1.0" image: invalid image pull spec "quay.io/foo/foo@sha256:0123": invalid reference format"#
)]
#[case::related_image(
    "image: quay",
    "relatedImages: [{image: ''}, {image: 'a@md5:d41d8cd98f00b204e9800998ecf8427e'}]\nimage: quay",
    r#"package "foo" bundle "foo.v0.1.0" relatedImages[1].image: invalid image pull spec "a@md5:d41d8cd98f00b204e9800998ecf8427e": unsupported digest algorithm"#
)]
#[case::empty_skip("{name: foo.v0.1.0}", "{name: foo.v0.1.0, skips: ['']}", "skip[0] is empty")]
#[case::skip_range_with_v(
    "{name: foo.v0.1.0}",
    "{name: foo.v0.1.0, skipRange: '>v0.1.0'}",
    r#"invalid skipRange ">v0.1.0": Could not parse Range ">v0.1.0""#
)]
#[case::skip_range_with_leading_zeroes(
    "{name: foo.v0.1.0}",
    "{name: foo.v0.1.0, skipRange: '>1.00.1'}",
    r#"invalid skipRange ">1.00.1": Could not parse Range ">1.00.1""#
)]
#[case::two_heads(
    "[{name: foo.v0.1.0}]",
    "[{name: foo.v0.1.0}, {name: foo.v0.2.0}]",
    "multiple channel heads found in graph: foo.v0.1.0, foo.v0.2.0"
)]
#[case::cycle(
    "[{name: foo.v0.1.0}]",
    "[{name: foo.v0.1.0, replaces: b}, {name: b, replaces: foo.v0.1.0}]",
    "no channel head found in graph"
)]
fn packages(#[case] from: &str, #[case] to: &str, #[case] message: &str) {
    assert_refused(&changed(from, to), message);
}

#[rstest]
#[case("{entries: []}", "package name must be set for deprecation item 0")]
#[case("{package: nyarl}", r#"cannot apply deprecations to an unknown package "nyarl""#)]
#[case(
    "{package: foo}\n---\n{schema: olm.deprecations, package: foo}",
    r#"expected a maximum of one deprecation per package: "foo""#
)]
#[case(
    "{package: foo, entries: [{message: x}]}",
    r#"schema must be set for deprecation entry [0] for package "foo""#
)]
#[case(
    "{package: foo, entries: [{reference: {schema: olm.package}, message: x}, {reference: {schema: olm.package}, message: z}]}",
    r#"duplicate deprecation entry declcfg.PackageScopedReference{Schema:"olm.package", Name:""} for package "foo""#
)]
#[case(
    "{package: foo, entries: [{reference: {schema: olm.bundle, name: foo.v2.0.0}, message: x}]}",
    r#"cannot deprecate bundle "foo.v2.0.0" for package "foo": bundle not found"#
)]
#[case(
    "{package: foo, entries: [{reference: {schema: olm.channel, name: z}, message: x}]}",
    r#"cannot deprecate channel "z" for package "foo": channel not found"#
)]
#[case(
    "{package: foo, entries: [{reference: {schema: olm.package, name: foo}, message: x}]}",
    r#"package name must be empty for deprecated package "foo" (specified "foo")"#
)]
#[case(
    "{package: foo, entries: [{reference: {schema: badschema, name: b}, message: x}]}",
    r#"cannot deprecate object declcfg.PackageScopedReference{Schema:"badschema", Name:"b"} referenced by entry 0 for package "foo": object schema unknown"#
)]
#[case(
    "{package: foo, entries: [{reference: {schema: olm.package}}]}",
    "invalid deprecation: message must be set"
)]
fn deprecations(#[case] blob: &str, #[case] message: &str) {
    let blob = blob.replacen('{', "{schema: olm.deprecations, ", 1);
    assert_refused(&and(&blob), message);
}

#[rstest]
#[case::as_it_is("", "")]
#[case::digest("foo:v0.1.0", &format!("foo@sha256:{SHA256}"))]
#[case::tag_and_digest("foo:v0.1.0", &format!("foo:v0.1.0@sha256:{SHA256}"))]
#[case::replaces_what_is_not_there("{name: foo.v0.1.0}", "{name: foo.v0.1.0, replaces: x}")]
#[case::with_release("foo.v0.1.0", "foo-v0.1.0-alpha.1.0.0")]
#[case::properties_of_the_package("name: foo,", "name: foo, properties: [{type: a, value: 1}],")]
fn valid(#[case] from: &str, #[case] to: &str) {
    let mut yaml = FOO.replace(from, to);
    if to.contains("alpha.1.0.0") {
        yaml = yaml.replace("version: 0.1.0", "version: 0.1.0, release: alpha.1.0.0");
    }
    let yaml = if from.is_empty() { FOO } else { yaml.as_str() };
    assert_eq!(load_yaml(yaml).err(), None);
}

#[rstest]
#[case::json(
    r#"{"apiVersion":"v1", "kind":"ClusterServiceVersion"}"#,
    r#"{"apiVersion":"v1", "kind":"ClusterServiceVersion"}"#
)]
#[case::yaml(
    "kind: ClusterServiceVersion\nvalue: 1\n",
    r#"{"kind":"ClusterServiceVersion","value":1}"#
)]
fn manifests_instead_of_an_image(#[case] manifest: &str, #[case] json: &str) {
    let yaml = changed("image: quay.io/foo/foo:v0.1.0\n", "").replace(
        "properties: [",
        &format!(
            "properties: [{{type: olm.bundle.object, value: {{data: {}}}}},",
            STANDARD.encode(manifest)
        ),
    );
    let kept = keep_files(&[("catalog.yaml", yaml.as_bytes())]);
    let content = &kept.bundles[0];
    assert_eq!(content.csv.as_deref(), Some(json));
    assert_eq!(content.objects, [json]);
}

#[rstest]
#[case("'*'", "object[0]: data is not base64: ")]
#[case("/w==", "object[0]: data is not UTF-8: ")]
#[case("e30ge30=", "object[0]: data is not a Kubernetes object: ")]
#[case("YTogWw==", "object[0]: data is neither JSON nor YAML: ")]
fn bad_manifests(#[case] data: &str, #[case] message: &str) {
    let to = format!("properties: [{{type: olm.bundle.object, value: {{data: {data}}}}},");
    let message = format!(r#"package "foo" bundle "foo.v0.1.0" {message}"#);
    assert_refused(&changed("properties: [", &to), &message);
}

/// A version with a release is another one than the version alone.
#[rstest]
#[case::versions(
    [("a1", "0.0.1"), ("a2", "0.0.1"), ("b1", "1.0.1"), ("b2", "1.0.1")],
    "[{0.0.1: [a1, a2]} {1.0.1: [b1, b2]}]"
)]
#[case::releases(
    [("a1", "0.0.1"), ("a2", "0.0.1"), ("b1", "0.0.1, release: '100'"), ("b2", "0.0.1, release: '100'")],
    "[{0.0.1: [a1, a2]} {0.0.1-100: [b1, b2]}]"
)]
fn versions_are_unique(#[case] bundles: [(&str, &str); 4], #[case] duplicates: &str) {
    let bundle = |name: &str, version: &str| {
        format!(
            "---\n{{schema: olm.bundle, package: a, name: {name}, image: i, properties: [{{type: \
             olm.package, value: {{packageName: a, version: {version}}}}}]}}\n"
        )
    };
    let bundles: String = bundles.iter().map(|(name, version)| bundle(name, version)).collect();
    let yaml = format!(
        "---\n{{schema: olm.package, name: a, defaultChannel: c}}\n---\n{{schema: olm.channel, \
         package: a, name: c, entries: [{{name: a1, skips: [a2, b1, b2]}}, {{name: a2}}, \
         {{name: b1}}, {{name: b2}}]}}\n{bundles}"
    );
    assert_refused(&yaml, &format!("duplicate versions found in bundles: {duplicates}"));
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let yaml = and(r#"
{schema: olm.package, name: bar}
---
{schema: olm.channel, package: bar, name: stable, entries: [{name: b1, skips: ['']}, {name: b2, skipRange: '>v1'}]}
---
{schema: olm.bundle, package: bar, name: b1, properties: [{type: olm.gvk, value: {group: 7}}]}
---
{schema: olm.bundle, package: bar, name: b2, properties: []}
---
{schema: olm.channel, package: baz, name: a}
---
{schema: olm.bundle, name: lost}
"#);
    assert_snapshot!(load_yaml(&yaml).unwrap_err(), @r#"
    invalid index:
    ├── package name must be set for bundle "lost" (catalog.yaml, document 9)
    ├── invalid package "bar":
    │   ├── default channel must be set (catalog.yaml, document 4)
    │   ├── invalid bundle "b1":
    │   │   └── parse properties for bundle "b1": parse property[0] of type "olm.gvk": field "group" must be a text, found the number 7 (put it in quotes if it is a text) (catalog.yaml, document 6)
    │   ├── invalid bundle "b2":
    │   │   ├── bundle image must be set (catalog.yaml, document 7)
    │   │   └── package "bar" bundle "b2" must have exactly 1 "olm.package" property, found 0 (catalog.yaml, document 7)
    │   └── invalid channel "stable":
    │       ├── multiple channel heads found in graph: b1, b2 (catalog.yaml, document 5)
    │       ├── invalid bundle "b1":
    │       │   └── skip[0] is empty (catalog.yaml, document 5)
    │       └── invalid bundle "b2":
    │           └── invalid skipRange ">v1": Could not parse Range ">v1": Could not parse comparator ">v" in ">v1": use =, ==, !=, !, >, >=, <, <= or nothing, and a version without leading v (catalog.yaml, document 5)
    └── invalid package "baz":
        └── unknown package "baz" for channel "a" (catalog.yaml, document 8)
    "#);
}
