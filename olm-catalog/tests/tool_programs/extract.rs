//! `opm alpha bundle extract` as the Job calls it.

use std::collections::BTreeMap;
use std::fs;

use k8s_openapi::api::core::v1::ConfigMap;
use olm_catalog::bundle::config_map::{files, read};
use rstest::rstest;
use serde_json::{Value, json};

use super::Image;
use super::api_server::ApiServer;

const CSV: &str = "kind: ClusterServiceVersion\nmetadata:\n  name: etcd.v1\n";

/// An image with a bundle in `bundle/`.
fn image() -> Image {
    let image = Image::new();
    let bundle = image.path().join("bundle");
    fs::create_dir_all(bundle.join("manifests")).unwrap();
    fs::create_dir_all(bundle.join("metadata")).unwrap();
    fs::write(bundle.join("manifests/etcd.csv.yaml"), CSV).unwrap();
    fs::write(bundle.join("manifests/etcd crd.yaml"), "kind: CustomResourceDefinition\n").unwrap();
    let annotations = "annotations:\n  \
        operators.operatorframework.io.bundle.manifests.v1: manifests/\n  \
        operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n  \
        operators.operatorframework.io.bundle.metadata.v1: metadata/\n  \
        operators.operatorframework.io.bundle.package.v1: etcd\n  \
        operators.operatorframework.io.bundle.channels.v1: alpha,stable\n  \
        operators.operatorframework.io.bundle.channel.default.v1: alpha\n";
    fs::write(bundle.join("metadata/annotations.yaml"), annotations).unwrap();
    image
}

fn config_map() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "content",
            "namespace": "olm",
            "resourceVersion": "7",
            "labels": {"olm.managed": "true"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "b", "uid": "u"}],
        },
        "data": {"left": "over"},
    })
}

/// Runs the Job's command line.
fn extract(image: &Image, server: &ApiServer, flags: &str) -> (i32, String) {
    let kubeconfig = server.kubeconfig(image.path());
    let line = format!("opm alpha bundle extract -m bundle/ -n olm -c content {flags}");
    let mut command = image.command(&line);
    command.env("KUBECONFIG", kubeconfig).env("CONTAINER_IMAGE", "example.com/etcd@sha256:1");
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[rstest]
#[case("-z", true)]
#[case("--gzip=true", true)]
#[case("", false)]
fn a_bundle_ends_in_its_config_map(#[case] flags: &str, #[case] compressed: bool) {
    let server = ApiServer::start(Some(config_map()));
    let (code, text) = extract(&image(), &server, flags);
    assert_eq!(code, 0, "{text}");
    assert_eq!(text, "2 files of bundle/ are in the ConfigMap olm/content\n");
    let object = server.object();
    for kept in ["labels", "ownerReferences", "resourceVersion"] {
        assert_eq!(object["metadata"][kept], config_map()["metadata"][kept]);
    }
    let field = if compressed { "binaryData" } else { "data" };
    let keys: Vec<&String> = object[field].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["etcd-crd.yaml", "etcd.csv.yaml"]);
    let written: ConfigMap = serde_json::from_value(object).unwrap();
    let notes: BTreeMap<String, String> = written.metadata.annotations.clone().unwrap();
    assert_eq!(notes.contains_key("olm.contentEncoding"), compressed);
    assert_eq!(notes["operators.operatorframework.io.bundle.channels.v1"], "alpha,stable");
    let bundle = read(&written).unwrap();
    assert_eq!((bundle.csv_name.as_str(), bundle.objects.len()), ("etcd.v1", 2));
    assert_eq!(bundle.image, "example.com/etcd@sha256:1");
}

/// The files were written by opm v1.73.0 from the same folder. Compressed bytes differ between
/// implementations of gzip; what they hold does not.
#[rstest]
#[case("-z", include_str!("opm-gzip.json"))]
#[case("", include_str!("opm-plain.json"))]
fn the_result_is_that_of_opm(#[case] flags: &str, #[case] opm: &str) {
    let server = ApiServer::start(Some(config_map()));
    let (code, text) = extract(&image(), &server, flags);
    assert_eq!(code, 0, "{text}");
    let ours: ConfigMap = serde_json::from_value(server.object()).unwrap();
    let opm: ConfigMap = serde_json::from_str(opm).unwrap();
    assert_eq!(ours.metadata.annotations, opm.metadata.annotations);
    assert_eq!(ours.data, opm.data);
    assert_eq!(files(&ours).unwrap(), files(&opm).unwrap());
    assert_eq!(read(&ours).unwrap(), read(&opm).unwrap());
}

#[test]
fn what_passes_is_tried_again() {
    let server = ApiServer::start(Some(config_map()));
    server.refuse_writes(&[409, 503]);
    let (code, text) = extract(&image(), &server, "-z");
    assert_eq!(code, 0, "{text}");
    // After a conflict the object is read anew, after a failure the same write is repeated.
    assert_eq!(server.calls(), ["GET", "PUT", "GET", "PUT", "PUT"]);
}

#[test]
fn what_does_not_pass_is_explained() {
    let start = "Error: error loading manifests from directory: ";
    let server = ApiServer::start(None);
    let (code, text) = extract(&image(), &server, "-z");
    let expected = "cannot read the ConfigMap olm/content: configmaps \"content\" not found: \
                    it must be there before\n";
    assert_eq!((code, text), (1, format!("{start}{expected}")));

    let server = ApiServer::start(Some(config_map()));
    server.refuse_writes(&[403]);
    let (_, text) = extract(&image(), &server, "-z");
    let expected = "cannot write the ConfigMap olm/content: not now: a Role must let this \
                    ServiceAccount get and update it\n";
    assert_eq!(text, format!("{start}{expected}"));
}

#[test]
fn a_bundle_that_is_too_large_changes_nothing() {
    let server = ApiServer::start(Some(config_map()));
    let (code, text) = extract(&image(), &server, "-l 60");
    assert_eq!(code, 1);
    assert!(text.contains("bundle files exceeded 60 bytes limit: etcd.csv.yaml brings"), "{text}");
    assert_eq!(server.object(), config_map());
}
