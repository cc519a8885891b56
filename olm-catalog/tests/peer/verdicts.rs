//! Catalogs that are wrong: both refuse them, and ours says at least what `opm` says.

use std::fs;

use olm_catalog::fbc::{ReadLimits, load};
use rstest::rstest;

use super::opm;

/// A valid catalog, to which cases add documents or in which they change something.
const BASE: &str = "
schema: olm.package
name: foo
defaultChannel: alpha
---
schema: olm.channel
package: foo
name: alpha
entries: [{name: foo.v2, replaces: foo.v1}, {name: foo.v1}]
---
schema: olm.bundle
package: foo
name: foo.v1
image: quay.io/foo/foo:v1
properties: [{type: olm.package, value: {packageName: foo, version: 1.0.0}}]
---
schema: olm.bundle
package: foo
name: foo.v2
image: quay.io/foo/foo:v2
properties: [{type: olm.package, value: {packageName: foo, version: 2.0.0}}]
";

/// What `opm` says, and everything that ours says; none where there is nothing to say.
fn verdicts(yaml: &str) -> (Option<String>, Option<String>) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("catalog.yaml"), yaml).unwrap();
    let theirs = opm().validate(root.path()).unwrap().map(|line| message(&line));
    let ours = load(root.path(), &ReadLimits::default()).err().map(|error| error.to_string());
    (theirs, ours)
}

/// The message in a line of the log of `opm`, which is quoted.
fn message(log: &str) -> String {
    let start = log.find("msg=").map_or(0, |at| at + "msg=".len());
    let quoted = log[start..].trim();
    serde_json::from_str(quoted).unwrap_or_else(|_| quoted.to_owned())
}

/// The leaves of a printed tree, or all of a message that is none.
fn leaves(message: &str) -> Vec<&str> {
    let lines = message.lines().map(|line| line.trim_start_matches(['├', '└', '│', '─', ' ']));
    lines.filter(|line| !(line.starts_with("invalid ") && line.ends_with(':'))).collect()
}

#[rstest]
#[case::valid("", "")]
#[case::second_package("", "{schema: olm.package, name: foo, defaultChannel: alpha}")]
#[case::package_without_channels("", "{schema: olm.package, name: bar}")]
#[case::package_without_name("", "{schema: olm.package}")]
#[case::dots("", "{schema: olm.package, name: a.b}")]
#[case::upper_case("", "{schema: olm.package, name: A}")]
#[case::long_name(
    "",
    "{schema: olm.package, name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}"
)]
#[case::no_default_channel("defaultChannel: alpha", "")]
#[case::unknown_channel_of_package("", "{schema: olm.channel, package: bar, name: c}")]
#[case::channel_without_name("", "{schema: olm.channel, package: foo}")]
#[case::channel_twice("", "{schema: olm.channel, package: foo, name: alpha}")]
#[case::empty_channel("", "{schema: olm.channel, package: foo, name: beta}")]
#[case::entry_twice("{name: foo.v1}]=>{name: foo.v1}, {name: foo.v1}]", "")]
#[case::entry_without_bundle("{name: foo.v1}]=>{name: foo.v1}, {name: foo.v0}]", "")]
#[case::bundle_without_package("", "{schema: olm.bundle, name: b}")]
#[case::bundle_of_unknown_package("", "{schema: olm.bundle, package: bar, name: b}")]
#[case::bundle_twice(
    "",
    "{schema: olm.bundle, package: foo, name: foo.v1, image: a, properties: []}"
)]
#[case::bundle_in_no_channel(
    "",
    "{schema: olm.bundle, package: foo, name: b, image: a, properties: [{type: olm.package, value: {packageName: foo, version: 3.0.0}}]}"
)]
#[case::two_heads("replaces: foo.v1=>", "")]
#[case::no_head("{name: foo.v1}]=>{name: foo.v1, replaces: foo.v2}]", "")]
#[case::itself("{name: foo.v1}]=>{name: foo.v1, replaces: foo.v1}]", "")]
#[case::stranded("replaces: foo.v1=>skips: [foo.v1, '']", "")]
#[case::skip_range("replaces: foo.v1=>replaces: foo.v1, skipRange: '>v0.1.0'", "")]
#[case::no_image("image: quay.io/foo/foo:v1=>image: ''", "")]
#[case::image_digest("foo:v1=>foo@sha256:abc", "")]
#[case::image_upper_case("foo:v1=>FOO:v1", "")]
#[case::image_md5("foo:v1=>foo@md5:d41d8cd98f00b204e9800998ecf8427e", "")]
#[case::version("version: 1.0.0=>version: 1.0.0.1", "")]
#[case::version_with_v("version: 1.0.0=>version: v1.0.0", "")]
#[case::version_empty("version: 1.0.0=>version: ''", "")]
#[case::same_versions("version: 1.0.0=>version: 2.0.0", "")]
#[case::release("version: 1.0.0=>version: 1.0.0, release: '!!!'", "")]
#[case::release_zeros("version: 1.0.0=>version: 1.0.0, release: '01'", "")]
#[case::release_name("version: 1.0.0=>version: 1.0.0, release: '1'", "")]
#[case::other_package("packageName: foo, version: 1=>packageName: bar, version: 1", "")]
#[case::no_package_property(
    "type: olm.package, value: {packageName: foo, version: 1.0.0}=>type: a, value: 1",
    ""
)]
#[case::deprecated_twice(
    "",
    "{schema: olm.deprecations, package: foo}\n---\n{schema: olm.deprecations, package: foo}"
)]
#[case::deprecated_of_none("", "{schema: olm.deprecations, entries: []}")]
#[case::deprecated_unknown_package("", "{schema: olm.deprecations, package: bar}")]
#[case::deprecated_unknown_bundle(
    "",
    "{schema: olm.deprecations, package: foo, entries: [{reference: {schema: olm.bundle, name: b}, message: x}]}"
)]
#[case::deprecated_unknown_channel(
    "",
    "{schema: olm.deprecations, package: foo, entries: [{reference: {schema: olm.channel, name: b}, message: x}]}"
)]
#[case::deprecated_named_package(
    "",
    "{schema: olm.deprecations, package: foo, entries: [{reference: {schema: olm.package, name: b}, message: x}]}"
)]
#[case::deprecated_without_schema(
    "",
    "{schema: olm.deprecations, package: foo, entries: [{message: x}]}"
)]
#[case::deprecated_unknown_schema(
    "",
    "{schema: olm.deprecations, package: foo, entries: [{reference: {schema: a}, message: x}]}"
)]
#[case::deprecated_reference_twice(
    "",
    "{schema: olm.deprecations, package: foo, entries: [{reference: {schema: olm.package}, message: x}, {reference: {schema: olm.package}, message: z}]}"
)]
#[case::deprecated_without_message(
    "",
    "{schema: olm.deprecations, package: foo, entries: [{reference: {schema: olm.package}, message: ''}]}"
)]
#[case::unknown_schema("", "{schema: a.b, package: bar}")]
fn both_judge_alike(#[case] change: &str, #[case] more: &str) {
    let (from, to) = change.split_once("=>").unwrap_or((change, ""));
    assert!(BASE.contains(from), "{from}");
    let yaml = if from.is_empty() { BASE.to_owned() } else { BASE.replacen(from, to, 1) };
    let yaml = if more.is_empty() { yaml } else { format!("{yaml}---\n{more}\n") };
    let (theirs, ours) = verdicts(&yaml);
    assert_eq!(theirs.is_some(), ours.is_some(), "opm: {theirs:?}\nours: {ours:?}");
    let (theirs, ours) = (theirs.unwrap_or_default(), ours.unwrap_or_default());
    for leaf in leaves(&theirs) {
        let said = leaves(&ours).iter().any(|line| line.starts_with(leaf));
        assert!(said, "opm says: {leaf}\nours says: {ours}");
    }
}

/// Documents that are no blobs: both refuse them, each in its own words.
#[rstest]
#[case::empty_document("---\n---\nschema: x\n")]
#[case::comments_alone("# nothing\n")]
#[case::list("- a\n")]
#[case::text("hello\n")]
#[case::no_schema("name: x\n")]
#[case::schema_of_wrong_type("schema: 1\n")]
#[case::schema_in_two_cases("{schema: a, Schema: b}\n")]
#[case::broken("a: [\n")]
#[case::boolean_as_name("schema: a.b\nname: y\n")]
#[case::boolean_as_name_in_braces("{schema: a.b, name: off}\n")]
#[case::octal_as_name("schema: a.b\nname: 0777\n")]
#[case::infinity("schema: a.b\nother: .inf\n")]
#[case::null_as_key("schema: a.b\n~: 1\n")]
#[case::merge_of_no_map("schema: a.b\n<<: 7\n")]
#[case::property_value_of_wrong_type(
    "{schema: olm.bundle, package: a, name: b, properties: [{type: olm.gvk, value: 1}]}\n"
)]
#[case::default_channel_of_wrong_type("{schema: olm.package, name: a, defaultChannel: 1}\n")]
#[case::icon("{schema: olm.package, name: a, icon: {base64data: '%%%'}}\n")]
fn both_refuse(#[case] yaml: &str) {
    let (theirs, ours) = verdicts(yaml);
    assert!(theirs.is_some(), "opm takes it, ours says {ours:?}");
    assert!(ours.is_some(), "ours takes it, opm says {theirs:?}");
}

/// What both take.
#[rstest]
#[case::separator_first("---\nschema: x\n")]
#[case::separator_last("schema: x\n---\n")]
#[case::json_then_yaml("{\"schema\": \"x\"}\n---\nschema: y.z\n")]
#[case::nothing("")]
#[case::boolean_elsewhere("schema: a.b\nother: y\nyes: no\n")]
#[case::merged("schema: a.b\nx: &x {name: b}\n<<: *x\n")]
fn both_take(#[case] yaml: &str) {
    assert_eq!(verdicts(yaml), (None, None));
}
