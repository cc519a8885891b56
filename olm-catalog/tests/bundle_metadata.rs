//! Annotations, dependencies and properties of a bundle in every wrong shape: the message names the
//! file and the field.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use olm_catalog::bundle::RegistryV1;
use rstest::rstest;

const CSV: &str = "apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: foo.v1.0.0}
spec: {version: 1.0.0}
";

const ANNOTATIONS: &str = "annotations: {operators.operatorframework.io.bundle.package.v1: foo}\n";

/// A bundle folder with this file in it, too.
fn bundle(file: &str, content: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in ["manifests", "metadata"] {
        fs::create_dir(folder.path().join(part)).unwrap();
    }
    for (file, content) in [
        ("manifests/csv.yaml", CSV.as_bytes()),
        ("metadata/annotations.yaml", ANNOTATIONS.as_bytes()),
        (file, content),
    ] {
        fs::write(folder.path().join(file), content).unwrap();
    }
    folder
}

/// Why the bundle is refused, with paths from its folder on.
fn refused(folder: &Path) -> String {
    let blob = RegistryV1::read(folder).and_then(|bundle| bundle.blob());
    blob.unwrap_err().to_string().replace(&format!("{}/", folder.display()), "")
}

#[rstest]
#[case::empty("", "Could not find annotations file: metadata needs annotations.yaml")]
#[case::other("a: 1", "Could not find annotations file: metadata needs annotations.yaml")]
#[case::null("annotations:", "Could not find annotations file: metadata needs annotations.yaml")]
#[case::none("annotations: {}", "Could not find annotations file: metadata needs annotations.yaml")]
#[case::list("[annotations]", "metadata/annotations.yaml: expected an object")]
#[case::not_a_map("annotations: [a]", "metadata/annotations.yaml: there is no map `annotations`")]
#[case::no_text(
    "annotations: {operators.operatorframework.io.bundle.package.v1: 1}",
    "metadata/annotations.yaml: annotation \"operators.operatorframework.io.bundle.package.v1\" must be a text; put quotes around it"
)]
#[case::no_package(
    "annotations: {operators.operatorframework.io.bundle.channels.v1: a}",
    "metadata/annotations.yaml has no annotation \"operators.operatorframework.io.bundle.package.v1\""
)]
fn annotations(#[case] content: &str, #[case] message: &str) {
    let folder = bundle("metadata/annotations.yaml", content.as_bytes());
    assert_eq!(refused(folder.path()), message);
}

#[rstest]
#[case::list("[a]", "expected an object")]
#[case::text("a", "expected an object")]
#[case::not_a_list("dependencies: {}", "field \"dependencies\" must be a list, found an object")]
#[case::item(
    "dependencies: [a]",
    "field \"dependencies[0]\" must be an object, found the text \"a\""
)]
#[case::no_type("dependencies: [{value: 1}]", "field \"dependencies[0].type\" is missing")]
#[case::wrong_type(
    "dependencies: [{type: [], value: 1}]",
    "field \"dependencies[0].type\" must be a text, found a list"
)]
#[case::no_value("dependencies: [{type: a}]", "field \"dependencies[0].value\" is missing")]
#[case::value(
    "dependencies: [{type: a, value: 1}, {type: olm.gvk, value: x}]",
    "field \"dependencies[1].value\" must be an object, found the text \"x\""
)]
#[case::gvk(
    "dependencies: [{type: olm.gvk, value: {group: g, version: 1, kind: K}}]",
    "field \"dependencies[0].value.version\" must be a text, found the number 1 (put it in quotes if it is a text)"
)]
#[case::package(
    "dependencies: [{type: olm.package, value: {packageName: p, version: 1.0}}]",
    "field \"dependencies[0].value.version\" must be a text, found the number 1 (put it in quotes if it is a text)"
)]
fn dependencies(#[case] content: &str, #[case] message: &str) {
    let folder = bundle("metadata/dependencies.yaml", content.as_bytes());
    assert_eq!(refused(folder.path()), format!("metadata/dependencies.yaml: {message}"));
    let properties = content.replace("dependencies", "properties");
    let folder = bundle("metadata/properties.yaml", properties.as_bytes());
    let message = message.replace("dependencies", "properties");
    assert_eq!(refused(folder.path()), format!("metadata/properties.yaml: {message}"));
}

#[rstest]
#[case::broken(b"dependencies: [")]
#[case::deep(&[b'['; 100_000])]
#[case::no_utf_8(b"dependencies: [\xff]")]
#[case::aliases(b"a: &a [*a]")]
fn files_that_cannot_be_parsed_are_named(#[case] content: &[u8]) {
    for file in ["annotations", "dependencies", "properties"] {
        let file = format!("metadata/{file}.yaml");
        let folder = bundle(&file, content);
        assert!(refused(folder.path()).starts_with(&format!("{file}: ")));
    }
}

#[rstest]
#[case::no_manifest("kind: 1", "no bundle objects found in manifests")]
#[case::no_csv("kind: A", ": a bundle needs exactly one ClusterServiceVersion, found 0")]
#[case::no_name(
    "{kind: ClusterServiceVersion, spec: {version: 1.0.0}}",
    ": the ClusterServiceVersion \"\" has no name"
)]
#[case::no_version(
    "{kind: ClusterServiceVersion, metadata: {name: a}}",
    ": the ClusterServiceVersion \"a\" has no spec.version"
)]
#[case::annotation(
    "{kind: ClusterServiceVersion, metadata: {name: a, annotations: {olm.properties: '{}'}}, spec: {version: 1.0.0}}",
    ": the ClusterServiceVersion \"a\": annotation olm.properties: field \"olm.properties\" must be a list, found an object"
)]
#[case::related_images(
    "{kind: ClusterServiceVersion, metadata: {name: a}, spec: {version: 1.0.0, relatedImages: [a]}}",
    ": the ClusterServiceVersion \"a\": field \"spec.relatedImages[0]\" must be an object, found the text \"a\""
)]
#[case::owned(
    "{kind: ClusterServiceVersion, metadata: {name: a}, spec: {version: 1.0.0, customresourcedefinitions: {owned: [{name: as.b, version: v1, kind: A}]}}}",
    ": the ClusterServiceVersion owns the CRD \"as.b\", version \"v1\", of which there is no manifest"
)]
#[case::crd_name(
    "{kind: ClusterServiceVersion, metadata: {name: a}, spec: {version: 1.0.0, customresourcedefinitions: {required: [{name: as}]}}}",
    ": the name \"as\" of a CRD has no dot: it must be PLURAL.GROUP"
)]
fn manifests(#[case] content: &str, #[case] message: &str) {
    let folder = bundle("manifests/csv.yaml", content.as_bytes());
    assert_eq!(refused(folder.path()).replace(&folder.path().display().to_string(), ""), message);
}

#[test]
fn links_and_sizes_are_bounded() {
    let folder = bundle("metadata/more.yaml", b"");
    let link = folder.path().join("metadata/properties.yaml");
    symlink("/etc/hostname", &link).unwrap();
    let message = "metadata/properties.yaml is a link to something outside the bundle";
    assert_eq!(refused(folder.path()), message);
    fs::remove_file(&link).unwrap();
    symlink("more.yaml", &link).unwrap();
    assert!(RegistryV1::read(folder.path()).is_ok(), "a link inside the bundle");
    let file = fs::File::create(folder.path().join("manifests/huge.yaml")).unwrap();
    file.set_len(1 << 30).unwrap();
    assert_eq!(refused(folder.path()), "manifests/huge.yaml is larger than 3145728 bytes");
}
