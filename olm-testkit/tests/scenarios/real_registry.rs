//! Bundle images from a registry that is the real thing, with and without credentials.
//!
//! Needs the program `docker-registry` and no cluster; without it the test is not run, and says so.

use anyhow::{Context, Result};
use libtest_mimic::{Failed, Trial};
use olm_catalog::bundle::unpack;
use olm_catalog::image::{ImageError, Keychain, Limits, Registry, Tree, pull};
use olm_testkit::oci::server::{ImageRegistry, PASSWORD, USER};
use olm_testkit::oci::{self, Image};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::schedule;

/// The test, or a line that says why it is not run.
pub fn all() -> Vec<Trial> {
    let name = "real_registry::a_bundle_image_with_and_without_credentials";
    let lacking = !ImageRegistry::is_available();
    if lacking {
        println!("ignored: {name}: there is no docker-registry on this machine");
    }
    let test = move || {
        let _place = schedule::enter(name);
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        let test = a_bundle_image_with_and_without_credentials();
        runtime.block_on(test).map_err(|error| Failed::from(format!("{error:#}")))
    };
    vec![Trial::test(name, test).with_ignored_flag(lacking)]
}

/// A bundle in two layers, the second of which takes a file of the first away.
fn bundle() -> Result<Image> {
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
}

fn keychain(host: &str, password: &str) -> Result<Keychain> {
    let auths = json!({"auths": {host: {"username": USER, "password": password}}}).to_string();
    let mut keychain = Keychain::default();
    keychain.add(|key| (key == ".dockerconfigjson").then_some(auths.as_bytes()))?;
    Ok(keychain)
}

/// Names of the files in a bundle image.
async fn files(reference: &str, keychain: &Keychain) -> Result<Vec<String>> {
    let tree = pulled(reference, keychain).await??;
    Ok(unpack(&tree)?.files.into_iter().map(|file| file.name).collect())
}

/// Why a bundle image is unavailable.
async fn refused(reference: &str, keychain: &Keychain) -> Result<ImageError> {
    let pulled = pulled(reference, keychain).await?;
    pulled.err().with_context(|| format!("{reference} was pulled"))
}

async fn pulled(reference: &str, keychain: &Keychain) -> Result<Result<Tree, ImageError>> {
    let (registry, image) = (Registry::new([])?, reference.parse()?);
    Ok(pull(&registry, &image, keychain, &Limits::default()).await)
}

async fn a_bundle_image_with_and_without_credentials() -> Result<()> {
    let folder = TempDir::new()?;
    let open = ImageRegistry::start(folder.path(), false).await?;
    let pushed = oci::push(&bundle()?, open.address(), "a/kettle", "v1").await?;
    let anonymous = Keychain::default();
    for reference in [&pushed.reference, &pushed.pinned()] {
        assert_eq!(files(reference, &anonymous).await?, ["kettle.csv.yaml"]);
    }
    let image = pushed.reference.parse()?;
    assert_eq!(Registry::new([])?.digest(&image, &anonymous).await?, pushed.digest);
    let missing = format!("{}/a/kettle:v2", open.address());
    assert_eq!(refused(&missing, &anonymous).await?.reason(), "ImageNotFound");

    let guarded = ImageRegistry::start(folder.path(), true).await?;
    let image = format!("{}/a/kettle:v1", guarded.address());
    let known = keychain(guarded.address(), PASSWORD)?;
    assert_eq!(files(&image, &known).await?, ["kettle.csv.yaml"]);
    let wrong = [keychain(guarded.address(), "wrong")?, keychain("quay.io", PASSWORD)?];
    for keychain in wrong.into_iter().chain([anonymous]) {
        let error = refused(&image, &keychain).await?;
        assert_eq!(error.reason(), "ImageUnauthorized", "{error}");
    }
    Ok(())
}
