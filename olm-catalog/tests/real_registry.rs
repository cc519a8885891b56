//! Bundle images from a registry that is the real thing, with and without credentials.
//!
//! Needs the program `docker-registry`; without it the test is not run, and says so.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use olm_catalog::bundle::unpack;
use olm_catalog::image::{ImageError, Keychain, Limits, Registry, pull};
use olm_testkit::oci::server::{ImageRegistry, PASSWORD, USER};
use olm_testkit::oci::{self, Image};
use serde_json::json;
use tempfile::TempDir;

fn main() -> ExitCode {
    let lacking = !ImageRegistry::is_available();
    if lacking {
        println!("not run: there is no docker-registry on this machine");
    }
    let test = || {
        let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
        runtime.block_on(a_bundle_image_with_and_without_credentials());
        Ok(())
    };
    let trial = Trial::test("a_bundle_image_with_and_without_credentials", test);
    let trials = vec![trial.with_ignored_flag(lacking)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A bundle in two layers, the second of which takes a file of the first away.
fn bundle() -> Image {
    let annotations = json!({"annotations": {
        "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
        "operators.operatorframework.io.bundle.package.v1": "kettle",
    }});
    Image::builder()
        .file("/manifests/kettle.csv.yaml", "kind: ClusterServiceVersion", 0o644)
        .file("/manifests/old.yaml", "kind: Old", 0o644)
        .file("/metadata/annotations.yaml", annotations.to_string(), 0o644)
        .layer()
        .file("/manifests/.wh.old.yaml", "", 0o644)
        .build()
        .unwrap()
}

fn keychain(host: &str, password: &str) -> Keychain {
    let auths = json!({"auths": {host: {"username": USER, "password": password}}}).to_string();
    let mut keychain = Keychain::default();
    keychain.add(|key| (key == ".dockerconfigjson").then_some(auths.as_bytes())).unwrap();
    keychain
}

async fn files(reference: &str, keychain: &Keychain) -> Result<Vec<String>, ImageError> {
    let registry = Registry::new([]).unwrap();
    let image = reference.parse().unwrap();
    let tree = pull(&registry, &image, keychain, &Limits::default()).await?;
    Ok(unpack(&tree).unwrap().files.into_iter().map(|file| file.name).collect())
}

async fn a_bundle_image_with_and_without_credentials() {
    let folder = TempDir::new().unwrap();
    let open = ImageRegistry::start(folder.path(), false).await.unwrap();
    let pushed = oci::push(&bundle(), open.address(), "a/kettle", "v1").await.unwrap();
    let anonymous = Keychain::default();
    for reference in [&pushed.reference, &pushed.pinned()] {
        assert_eq!(files(reference, &anonymous).await.unwrap(), ["kettle.csv.yaml"]);
    }
    let registry = Registry::new([]).unwrap();
    let image = pushed.reference.parse().unwrap();
    assert_eq!(registry.digest(&image, &anonymous).await, Ok(pushed.digest.clone()));
    let missing = format!("{}/a/kettle:v2", open.address());
    assert_eq!(files(&missing, &anonymous).await.unwrap_err().reason(), "ImageNotFound");

    let guarded = ImageRegistry::start(folder.path(), true).await.unwrap();
    let image = format!("{}/a/kettle:v1", guarded.address());
    let known = keychain(guarded.address(), PASSWORD);
    assert_eq!(files(&image, &known).await.unwrap(), ["kettle.csv.yaml"]);
    let wrong = [keychain(guarded.address(), "wrong"), keychain("quay.io", PASSWORD)];
    for keychain in wrong.into_iter().chain([anonymous]) {
        let error = files(&image, &keychain).await.unwrap_err();
        assert_eq!(error.reason(), "ImageUnauthorized", "{error}");
    }
}
