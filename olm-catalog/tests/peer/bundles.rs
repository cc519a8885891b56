//! Bundle folders: both render the same blob, and answer with the same bundle once it is served.

use std::fs;
use std::path::Path;

use olm_catalog::bundle::{self, Migration, RegistryV1};
use olm_catalog::fbc::ReadLimits;
use olm_catalog::index::Index;
use rstest::rstest;
use serde_json::Value;

use super::{catalog_folder, compare, opm};

/// A pattern with every field.
const TEMPLATE: &str = "quay.io/{{.Package}}/{{.Name}}:v{{ .Version }}";

/// A bundle folder that may be changed.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in ["manifests", "metadata"] {
        fs::create_dir(folder.path().join(part)).unwrap();
        let source = catalog_folder("../bundles/foo").join(part);
        for entry in fs::read_dir(source).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.path().join(part).join(entry.file_name())).unwrap();
        }
    }
    folder
}

/// Replaces a text in a file, which must be there.
fn edit(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert!(text.contains(from), "{file}: {from}");
    fs::write(path, if from.is_empty() { to.to_owned() } else { text.replace(from, to) }).unwrap();
}

/// What `opm` renders, and what ours does.
fn rendered(
    folder: &Path,
    template: bool,
    level: Migration,
) -> (Result<Value, String>, Result<Value, String>) {
    let mut flags =
        if template { vec!["--alpha-image-ref-template", TEMPLATE] } else { Vec::new() };
    if level > Migration::None {
        flags.push("--migrate");
    }
    let theirs = opm().render(folder, &flags).map_err(|error| error.to_string());
    let theirs = theirs.map(|blob| serde_json::from_slice(&blob).unwrap());
    (theirs, ours(folder, template, level))
}

fn ours(folder: &Path, template: bool, level: Migration) -> Result<Value, String> {
    let mut bundle = RegistryV1::read(folder).map_err(|error| error.to_string())?;
    if template {
        bundle.set_image_by(&TEMPLATE.parse().unwrap()).unwrap();
    }
    let mut blob = bundle.blob().map_err(|error| error.to_string())?;
    bundle::migrate(&mut blob, level).map_err(|error| error.to_string())?;
    Ok(blob)
}

/// Without the fields that `opm` leaves out when they are empty.
fn without_empty_lists(mut blob: Value) -> Value {
    for name in ["properties", "relatedImages"] {
        let fields = blob.as_object_mut().unwrap();
        if fields.get(name).is_some_and(|list| list.as_array().is_some_and(Vec::is_empty)) {
            fields.remove(name);
        }
    }
    blob
}

const CSV: &str = "manifests/csv.yaml";
const CRD: &str = "manifests/crd.yaml";
const ANNOTATIONS: &str = "metadata/annotations.yaml";
const DEPENDENCIES: &str = "metadata/dependencies.yaml";
const PROPERTIES: &str = "metadata/properties.yaml";

#[rstest]
#[case::whole(CSV, "", "")]
#[case::release(CSV, "version: 1.2.3\n", "version: 1.2.3\n  release: rc.1\n")]
#[case::release_as_number(CSV, "version: 1.2.3\n", "version: 1.2.3\n  release: 7\n")]
#[case::no_related_images(CSV, "  relatedImages:", "  others:")]
#[case::other_strategy(CSV, "strategy: deployment", "strategy: other")]
#[case::no_properties_annotation(CSV, "olm.properties:", "other.properties:")]
#[case::package_in_the_annotation(
    CSV,
    "\"olm.maxOpenShiftVersion\", \"value\": \"4.18\"",
    "\"olm.package\", \"value\": {\"packageName\": \"foo\", \"version\": \"9.9.9\"}"
)]
#[case::old_crd(CRD, "apiextensions.k8s.io/v1\n", "apiextensions.k8s.io/v1beta1\n")]
#[case::manifest_that_is_none(
    CRD,
    "kind: CustomResourceDefinition",
    "kid: CustomResourceDefinition"
)]
#[case::other_version_of_a_crd(CRD, "name: v1,", "name: v2,")]
#[case::other_group_of_a_crd(CRD, "group: example.org", "group: example.com")]
#[case::two_documents(CRD, "spec:\n  group", "spec:\n  scope: x\n---\nspec:\n  group")]
#[case::broken_manifest(CRD, "spec:", "spec: [")]
#[case::no_csv(CSV, "kind: ClusterServiceVersion", "kind: Other")]
#[case::second_csv(
    "manifests/z.yaml",
    "",
    "{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: z}, spec: {version: 9.0.0}}"
)]
#[case::not_a_crd_name(CSV, "name: foos.example.org", "name: foos")]
#[case::annotations_elsewhere(
    "metadata/a.yaml",
    "",
    "annotations: {operators.operatorframework.io.bundle.package.v1: other}"
)]
#[case::annotations_without_a_package("metadata/a.yaml", "", "annotations: {a: b}")]
#[case::no_dependencies(DEPENDENCIES, "dependencies:", "others:")]
#[case::dependencies_elsewhere(
    "metadata/a.yaml",
    "",
    "dependencies: [{type: olm.label, value: {label: other}}]"
)]
#[case::junk_in_metadata("metadata/a.yaml", "", "a: [")]
#[case::same_property_twice(
    PROPERTIES,
    "properties:",
    "properties:\n- {type: zzz, value: [1, 2.0, null]}"
)]
#[case::csv_metadata_given(
    PROPERTIES,
    "properties:",
    "properties:\n- {type: olm.csv.metadata, value: {}}"
)]
#[case::no_annotations(ANNOTATIONS, "annotations:", "others:")]
fn both_render_the_same(
    #[case] file: &str,
    #[case] from: &str,
    #[case] to: &str,
    #[values(false, true)] template: bool,
    #[values(Migration::None, Migration::BundleObjectToCsvMetadata)] level: Migration,
) {
    let folder = copy();
    if !to.is_empty() {
        edit(folder.path(), file, from, to);
    }
    match rendered(folder.path(), template, level) {
        (Ok(theirs), Ok(ours)) => {
            let (ours, theirs) = (without_empty_lists(ours), without_empty_lists(theirs));
            let same = compare::without_zeros(ours) == compare::without_zeros(theirs.clone());
            let ours = self::ours(folder.path(), template, level).unwrap();
            assert!(same, "opm: {theirs:#}\nours: {ours:#}");
        }
        (theirs, ours) => {
            assert_eq!(theirs.is_ok(), ours.is_ok(), "opm: {theirs:?}\nours: {ours:?}");
        }
    }
}

/// What `opm` passes over in silence and ours refuses: see docs/differences.md.
#[rstest]
#[case(CSV, "value\": \"4.18\"}", "value\": \"4.18\"")]
#[case(DEPENDENCIES, "value: {label: x}", "value: {label: x")]
#[case(PROPERTIES, "type: zzz", "type: 1")]
fn ours_refuses_what_opm_leaves_out(#[case] file: &str, #[case] from: &str, #[case] to: &str) {
    let folder = copy();
    edit(folder.path(), file, from, to);
    let (theirs, ours) = rendered(folder.path(), false, Migration::None);
    assert!(theirs.is_ok(), "{theirs:?}");
    assert!(ours.is_err(), "{ours:?}");
}

/// A rendered bundle, served by both.
#[tokio::test(flavor = "multi_thread")]
async fn rendered_bundles_are_served_alike() {
    for level in [Migration::None, Migration::BundleObjectToCsvMetadata] {
        let catalog = tempfile::tempdir().unwrap();
        let blob = ours(&catalog_folder("../bundles/foo"), true, level).unwrap();
        let rest = "{\"schema\":\"olm.package\",\"name\":\"foo\",\"defaultChannel\":\"alpha\"}\n\
             {\"schema\":\"olm.channel\",\"package\":\"foo\",\"name\":\"alpha\",\
             \"entries\":[{\"name\":\"foo.v1.2.3\"}]}\n";
        fs::write(catalog.path().join("foo.json"), format!("{rest}{blob}")).unwrap();
        assert!(compare(catalog.path()).await > 10);
        let index = Index::build(catalog.path(), &ReadLimits::default(), None).unwrap();
        let mut served = index.bundle("foo", "alpha", "foo.v1.2.3").unwrap().message().unwrap();
        served.channel_name.clear();
        if level == Migration::None {
            let mut bundle = RegistryV1::read(&catalog_folder("../bundles/foo")).unwrap();
            bundle.set_image_by(&TEMPLATE.parse().unwrap()).unwrap();
            assert_eq!(bundle.message().unwrap(), served);
        }
    }
}
