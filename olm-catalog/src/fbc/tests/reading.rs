//! Files, documents and blobs: what is read, and what is refused with which words.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use insta::assert_snapshot;
use olm_types::document::{Budget, Meter, documents};
use proptest::prelude::*;
use rstest::rstest;

use super::{FOO, keep_files, load_files, load_yaml};
use crate::fbc::{Blob, ReadLimits, SourceDigest, load, load_into, read};

#[test]
fn yaml_json_nested_folders_and_several_documents() {
    let json = br#"{"schema":"olm.package","name":"bar","defaultChannel":"beta"}
        {"schema":"olm.channel","package":"bar","name":"beta","entries":[{"name":"bar.v1.0.0"}]}"#;
    let bundle = br#"{"schema":"olm.bundle","package":"bar","name":"bar.v1.0.0","image":"a/bar",
        "properties":[{"type":"olm.package","value":{"packageName":"bar","version":"1.0.0"}}]}"#;
    let catalog = load_files(&[
        ("foo/catalog.yaml", FOO.as_bytes()),
        ("bar/index.json", json),
        ("bar/bundles/one", bundle),
        ("separated.yaml", b"---\n{\"schema\": \"x\"}\n---\nschema: z\n---\n"),
        ("separated.json", b"{\"schema\": \"x\"}\n---\n{\"schema\": \"y\"}\n---\n"),
        ("empty.json", b""),
    ])
    .unwrap();
    let heads: Vec<_> = catalog
        .packages
        .values()
        .flat_map(|package| package.channels.values())
        .map(|channel| channel.head.as_str())
        .collect();
    assert_eq!(heads, ["bar.v1.0.0", "foo.v0.1.0"]);
    assert_eq!(catalog.packages["bar"].origin.to_string(), "bar/index.json, document 1");
}

#[test]
fn unknown_schemas_are_kept() {
    let text =
        format!("{FOO}---\n{{schema: custom.operator.io, package: foo, name: x, answer: 42}}\n");
    let kept = keep_files(&[("catalog.yaml", text.as_bytes())]);
    let meta = &kept.metas[0];
    assert_eq!((meta.schema.as_str(), meta.package.as_str()), ("custom.operator.io", "foo"));
    assert_eq!(meta.value["answer"], 42);
}

#[rstest]
#[case::no_yaml("a: [", "catalog.yaml, document 1: ")]
#[case::broken_second_document("{schema: x}\n---\na: 'b", "catalog.yaml, document 2: ")]
#[case::no_object(
    "- a\n- b\n",
    "catalog.yaml, document 1: expected an object with a field \"schema\", found a list"
)]
#[case::empty_document(
    "---\n---\n{schema: x}",
    "catalog.yaml, document 1: expected an object with a field \"schema\", found null"
)]
#[case::comments_alone(
    "# nothing",
    "catalog.yaml, document 1: expected an object with a field \"schema\", found null"
)]
#[case::no_separator(
    "schema: x\n--- {schema: y}",
    "catalog.yaml, document 1: a second document begins without a line of --- before it"
)]
#[case::icon_that_is_no_base64(
    "{schema: olm.package, name: foo, icon: {base64data: '%', mediatype: a}}",
    "catalog.yaml, document 1 (olm.package \"foo\"): field \"icon.base64data\" must be base64, found the text \"%\""
)]
#[case::text(
    "hello",
    "catalog.yaml, document 1: expected an object with a field \"schema\", found the text \"hello\""
)]
#[case::no_schema(
    "name: x",
    "catalog.yaml, document 1: object '{\"name\":\"x\"}' is missing root schema field: add \"schema\", for example olm.bundle"
)]
#[case::schema_of_wrong_type(
    "schema: 1",
    "catalog.yaml, document 1: field \"schema\" must be a text, found the number 1 (put it in quotes if it is a text)"
)]
#[case::schema_twice(
    "{schema: a, Schema: b}",
    "catalog.yaml, document 1: field \"schema\" is given more than once (as \"Schema\" and \"schema\")"
)]
#[case::name_of_wrong_type(
    "{schema: olm.package, name: [foo]}",
    "catalog.yaml, document 1: field \"name\" must be a text, found a list"
)]
#[case::default_channel_of_wrong_type(
    "{schema: olm.package, name: foo, defaultChannel: 4.1}",
    "catalog.yaml, document 1 (olm.package \"foo\"): field \"defaultChannel\" must be a text, found the number 4.1 (put it in quotes if it is a text)"
)]
#[case::nested_field(
    "{schema: olm.channel, package: foo, name: a, entries: [{name: x, skips: [a, {}]}]}",
    "catalog.yaml, document 1 (olm.channel of package \"foo\" \"a\"): field \"entries[0].skips[1]\" must be a text, found an object"
)]
#[case::entries_of_wrong_type(
    "{schema: olm.channel, package: foo, name: a, entries: {name: x}}",
    "catalog.yaml, document 1 (olm.channel of package \"foo\" \"a\"): field \"entries\" must be a list, found an object"
)]
#[case::property_without_type(
    "{schema: olm.bundle, package: foo, name: x, properties: [{value: 1}]}",
    "catalog.yaml, document 1 (olm.bundle of package \"foo\" \"x\"): field \"properties[0].type\" is missing"
)]
#[case::property_without_value(
    "{schema: olm.bundle, package: foo, name: x, properties: [{type: a}]}",
    "catalog.yaml, document 1 (olm.bundle of package \"foo\" \"x\"): field \"properties[0].value\" is missing"
)]
fn unreadable(#[case] text: &str, #[case] message: &str) {
    let error = load_yaml(text).unwrap_err();
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn errors_of_several_files_are_collected() {
    let error = load_files(&[
        ("a.yaml", b"{schema: olm.package, name: 1}\n---\n{name: x}"),
        ("b.json", b"{\"schema\": \"olm.package\", \"name\": \"\xff\"}"),
        ("README.md", b"# Not a catalog file"),
        ("sub/c.json", b"{\"schema\": \"olm.package\"} trailing"),
    ]);
    assert_snapshot!(error.unwrap_err(), @r#"
    README.md, document 1: expected an object with a field "schema", found null
    a.yaml, document 1: field "name" must be a text, found the number 1 (put it in quotes if it is a text)
    a.yaml, document 2: object '{"name":"x"}' is missing root schema field: add "schema", for example olm.bundle
    b.json, document 1: invalid unicode code point at line 1 column 36
    sub/c.json, document 2: expected an object with a field "schema", found the text "trailing"
    "#);
}

#[test]
fn deep_nesting_and_alias_bombs_are_refused() {
    let deep = format!("{{\"schema\": \"x\", \"a\": {}", "[".repeat(100_000));
    let error = load_files(&[("deep.json", deep.as_bytes())]).unwrap_err();
    assert!(error.contains("more than 120 nested maps and lists"), "{error}");
    let deep = format!("schema: x\na: {}", "[".repeat(100_000));
    let error = load_files(&[("deep.yaml", deep.as_bytes())]).unwrap_err();
    assert!(error.starts_with("deep.yaml, document 1: "), "{error}");
    let mut bomb = "schema: x\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", ")));
    }
    let error = load_yaml(&bomb).unwrap_err();
    assert!(error.contains("excessive aliasing"), "{error}");
}

#[test]
fn limits_are_kept() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("a/b")).unwrap();
    std::fs::write(root.path().join("a/one.yaml"), FOO).unwrap();
    std::fs::write(root.path().join("a/b/two.yaml"), "{schema: x}").unwrap();
    let limits = ReadLimits::default();
    let refused = |limits: ReadLimits| load(root.path(), &limits).unwrap_err().to_string();
    let cases = [
        (ReadLimits { blob_bytes: 20, ..limits }, "document 1: a document is larger than 20 bytes"),
        (ReadLimits { blob_memory: 20, ..limits }, "the values take more than 20 bytes of memory"),
        (ReadLimits { file_bytes: 20, ..limits }, "a/one.yaml is larger than 20 bytes"),
        (ReadLimits { total_bytes: 20, ..limits }, "files of the catalog exceed 20 bytes"),
        (ReadLimits { files: 1, ..limits }, "more than 1 files"),
        (ReadLimits { depth: 1, ..limits }, "a/b is nested deeper than 1 folders"),
        (ReadLimits { blobs: 3, ..limits }, "more than 3 objects"),
        (ReadLimits { names: 300, ..limits }, "take more than 300 bytes of memory"),
        (ReadLimits { until: Some(Instant::now()), ..limits }, "in the time that there was for it"),
    ];
    for (limits, message) in cases {
        let error = refused(limits);
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn links_may_not_leave_the_catalog() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(root.path().join("catalog.yaml"), FOO).unwrap();
    std::os::unix::fs::symlink("catalog.yaml", root.path().join("again.yaml")).unwrap();
    let error = load(root.path(), &ReadLimits::default()).unwrap_err().to_string();
    assert!(error.contains("duplicate package \"foo\""), "{error}");
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    let link = root.path().join("again.yaml");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), &link).unwrap();
    let error = load(root.path(), &ReadLimits::default()).unwrap_err().to_string();
    assert!(error.ends_with("again.yaml is a link to a file outside the catalog"), "{error}");
}

#[test]
fn links_inside_the_catalog_are_followed() {
    let root = tempfile::tempdir().unwrap();
    let data = root.path().join("..2026_01_01");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("catalog.yaml"), FOO).unwrap();
    std::os::unix::fs::symlink("..2026_01_01", root.path().join("..data")).unwrap();
    std::os::unix::fs::symlink("..data", root.path().join("folder")).unwrap();
    let catalog = load(root.path(), &ReadLimits::default()).unwrap();
    assert_eq!(
        catalog.packages["foo"].origin.to_string(),
        "folder/catalog.yaml, document 1",
        "what Kubernetes projects is not read twice"
    );
    std::os::unix::fs::symlink("..", data.join("loop")).unwrap();
    let error = load(root.path(), &ReadLimits::default()).unwrap_err().to_string();
    assert!(error.ends_with("folder/loop is a link to a folder above it"), "{error}");
}

#[test]
fn index_ignore_leaves_files_out() {
    let catalog = load_files(&[
        (".indexignore", b"*.md\n/drafts\n"),
        ("README.md", b"# No catalog"),
        ("drafts/broken.yaml", b"a: ["),
        ("foo/.indexignore", b"!README.md\nbroken.*\n"),
        ("foo/broken.yaml", b"a: ["),
        ("foo/catalog.yaml", FOO.as_bytes()),
    ])
    .unwrap();
    assert_eq!(catalog.packages.keys().collect::<Vec<_>>(), ["foo"]);
    let error = load_files(&[("foo/.indexignore", b"!x.md\n"), ("foo/x.md", b"# No catalog")]);
    assert!(error.unwrap_err().starts_with("foo/x.md, document 1: "));
}

#[test]
fn what_is_neither_file_nor_folder_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    let error = load(root.path(), &ReadLimits::default()).unwrap_err().to_string();
    assert!(error.ends_with("socket is neither a file nor a folder"), "{error}");
}

#[test]
fn a_catalog_that_changes_while_it_is_read_is_refused() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.yaml"), FOO).unwrap();
    let mut visit = |_| {
        std::fs::write(root.path().join("b.yaml"), FOO)?;
        Ok(())
    };
    let error = read(root.path(), &ReadLimits::default(), &mut visit).unwrap_err().to_string();
    assert!(error.ends_with(" changed while it was read: try again"), "{error}");
}

#[test]
fn the_digest_depends_on_paths_and_content() {
    let limits = ReadLimits::default();
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a.yaml");
    std::fs::write(&file, FOO).unwrap();
    let (_, read) = load_into(root.path(), &limits, &mut ()).unwrap();
    let of = || SourceDigest::of(root.path(), &limits).unwrap();
    assert_eq!(of(), read);
    std::fs::write(root.path().join(".indexignore"), "x").unwrap();
    std::fs::write(root.path().join("x"), "not read").unwrap();
    assert_eq!(of(), read, "what is left out does not count");
    std::fs::write(&file, FOO.replace("quay.io", "quay.iO")).unwrap();
    assert_ne!(of(), read);
    std::fs::write(&file, FOO).unwrap();
    std::fs::rename(&file, root.path().join("b.yaml")).unwrap();
    assert_ne!(of(), read);
}

#[test]
fn a_missing_folder_is_an_error() {
    let error = load(Path::new("/no/such/folder"), &ReadLimits::default()).unwrap_err();
    assert!(error.to_string().starts_with("read /no/such/folder: "), "{error}");
}

proptest! {
    #[test]
    fn any_file_gives_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let budget = Budget { bytes: 100, ..Budget::CATALOG };
        documents(bytes.as_slice(), &mut Meter::per_document(budget), |_, document| {
            if let Ok(value) = document {
                let _ = Blob::from_value(value);
            }
            ControlFlow::Continue(())
        });
    }
}
