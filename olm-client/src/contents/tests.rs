//! Each place that has a bundle comes before the next one.

use std::fs;
use std::path::Path;

use k8s_openapi::ByteString;
use olm_types::bundle::CatalogKey;
use olm_types::hash::unpack_name;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::catalogs::{Cache, CacheSection, Folders, Visible};
use crate::notices::Notices;
use crate::stub;

/// The digest of the bundle image.
const DIGEST: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// The CSV of the bundle, which says where it was read.
fn csv(place: &str) -> Value {
    json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": "a.v1"}, "spec": {"description": place, "version": "1.0.0",
            "install": {"strategy": "deployment", "spec": {"deployments": []}}}})
}

fn entry(content: BundleContent) -> Entry {
    Entry { content, ..Entry::new(CatalogKey::new("ns", "c"), "a", "stable", "a.v1") }
}

/// An InstallPlan that waits, and the ConfigMap that the image was unpacked into.
fn known(image: &str) -> Known {
    let resource = json!({"group": "operators.coreos.com", "version": "v1alpha1",
        "kind": "ClusterServiceVersion", "name": "a.v1", "sourceName": "c", "sourceNamespace": "ns",
        "manifest": csv("steps").to_string()});
    let step = json!({"resolving": "a.v1", "status": "Unknown", "resource": resource});
    let mut known = Known::default();
    known.add(json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": ["a.v1"]},
        "status": {"phase": "RequiresApproval", "plan": [step]}}));
    known.add(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": unpack_name(image), "namespace": "ns"},
        "data": {"csv.yaml": csv("config map").to_string()}}));
    known
}

/// A cache that holds the image.
fn cached(folder: &Path) -> Cache {
    let cache = Cache::new(Some(folder));
    let bundle = json!({"name": "a.v1", "csv": csv("image").to_string(), "objects": []});
    cache.write(CacheSection::Bundles, DIGEST, bundle.to_string().as_bytes());
    cache
}

/// A folder with the bundle, below others.
fn bundles() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let prefix = "operators.operatorframework.io.bundle";
    let annotations = json!({"annotations": {
        format!("{prefix}.mediatype.v1"): "registry+v1", format!("{prefix}.manifests.v1"): "manifests/",
        format!("{prefix}.metadata.v1"): "metadata/", format!("{prefix}.package.v1"): "a",
        format!("{prefix}.channels.v1"): "stable"}});
    for (file, text) in
        [("manifests/csv.yaml", csv("folder")), ("metadata/annotations.yaml", annotations)]
    {
        let file = folder.path().join("below").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text.to_string()).unwrap();
    }
    folder
}

/// A file-based catalog that holds the manifests itself.
fn catalog() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = ByteString(csv("catalog").to_string().into_bytes());
    let blobs = [
        json!({"schema": "olm.package", "name": "a", "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "name": "stable", "package": "a", "entries": [{"name": "a.v1"}]}),
        json!({"schema": "olm.bundle", "name": "a.v1", "package": "a", "properties": [
            {"type": "olm.package", "value": {"packageName": "a", "version": "1.0.0"}},
            {"type": "olm.bundle.object", "value": {"data": data}}]}),
    ];
    let text: String = blobs.iter().map(|blob| format!("{blob}\n")).collect();
    fs::write(folder.path().join("catalog.json"), text).unwrap();
    folder
}

async fn catalogs(flags: &[String]) -> Catalogs {
    let (folders, notices) = (Folders::default(), Notices::new(|_| {}));
    Catalogs::of_flags(&Visible::default(), flags, &folders, &notices).await.unwrap()
}

/// Where a bundle was read, or why not.
async fn place(contents: &Contents<'_>, entry: &Entry, known: &Known) -> String {
    match contents.read(entry, known).await {
        Content::Read(bundle) => {
            let csv: Value = serde_json::from_str(&bundle.csv_json).unwrap();
            csv["spec"]["description"].as_str().unwrap().to_owned()
        }
        Content::Unknown(why) => why,
    }
}

fn forget(known: &mut Known, kind: &str) {
    known.objects.retain(|key, _| key.kind != kind);
}

#[tokio::test]
async fn an_image_is_pulled_after_what_was_unpacked_and_before_a_folder() {
    let image = format!("example.com/a@sha256:{DIGEST}");
    let (mut known, folder, kept) = (known(&image), bundles(), tempfile::tempdir().unwrap());
    let (entry, catalogs) =
        (entry(BundleContent::Image(image.as_str().into())), catalogs(&[]).await);
    let (cluster, cache) = (stub::cluster(|_| None), cached(kept.path()));
    let (pulling, no_pull) = (Pulling::default(), Pulling { no_pull: true, ..Pulling::default() });
    let images = Some(Images::new(&cluster, &pulling, &cache));
    let folder = Some(folder.path().to_owned());
    let mut contents = Contents { cluster: None, catalogs: &catalogs, images, folder };
    assert_eq!(place(&contents, &entry, &known).await, "steps");
    forget(&mut known, "InstallPlan");
    assert_eq!(place(&contents, &entry, &known).await, "config map");
    forget(&mut known, "ConfigMap");
    assert_eq!(place(&contents, &entry, &known).await, "image");
    contents.images = None;
    assert_eq!(place(&contents, &entry, &known).await, "folder");
    contents.folder = None;
    let unknown = place(&contents, &entry, &known).await;
    assert_eq!(unknown, format!("--offline pulls nothing; {HELP}"));
    contents.images = Some(Images::new(&cluster, &no_pull, &cache));
    let unknown = place(&contents, &entry, &known).await;
    assert_eq!(unknown, format!("--no-pull: nothing is pulled; {HELP}"));
}

#[tokio::test]
async fn a_catalog_is_asked_after_the_steps_and_before_a_folder() {
    let (mut known, folder, catalog) = (known("none"), bundles(), catalog());
    let flag = format!("ns/c={}", catalog.path().display());
    let (catalogs, none) = (catalogs(&[flag]).await, catalogs(&[]).await);
    let entry = entry(BundleContent::Inline);
    let folder = Some(folder.path().to_owned());
    let mut contents = Contents { cluster: None, catalogs: &catalogs, images: None, folder };
    assert_eq!(place(&contents, &entry, &known).await, "steps");
    forget(&mut known, "InstallPlan");
    assert_eq!(place(&contents, &entry, &known).await, "catalog");
    contents.catalogs = &none;
    assert_eq!(place(&contents, &entry, &known).await, "folder");
    contents.folder = None;
    assert_eq!(place(&contents, &entry, &known).await, format!("its catalog was not read; {HELP}"));
}
