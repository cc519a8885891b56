//! Bundles in images: both pull them from a registry and render the same blob.
//!
//! Needs the program `docker-registry`; without it the test says so and checks nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use olm_catalog::bundle::RegistryV1;
use olm_catalog::image::{Keychain, Limits, Registry, pull};
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, Image};
use serde_json::Value;
use tempfile::TempDir;

use super::{catalog_folder, compare, opm};

/// The image that a tool for bundles would build: labels repeat the annotations.
fn image(bundle: &Path) -> Image {
    let mut image = Image::builder();
    for part in ["manifests", "metadata"] {
        for entry in fs::read_dir(bundle.join(part)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            image = image.file(&format!("/{part}/{name}"), fs::read(entry.path()).unwrap(), 0o644);
        }
    }
    let label = |name: &str| format!("operators.operatorframework.io.bundle.{name}.v1");
    for (name, value) in [
        ("mediatype", "registry+v1"),
        ("manifests", "manifests/"),
        ("metadata", "metadata/"),
        ("package", "foo"),
        ("channels", "alpha"),
        ("channel.default", "alpha"),
    ] {
        image = image.label(&label(name), value);
    }
    image.build().unwrap()
}

/// The programs that it pulls with want to know whom to trust.
fn rendered_by_opm(reference: &str, home: &Path) -> Value {
    let policy = home.join(".config/containers/policy.json");
    fs::create_dir_all(policy.parent().unwrap()).unwrap();
    fs::write(policy, "{\"default\": [{\"type\": \"insecureAcceptAnything\"}]}").unwrap();
    let mut command = Command::new(opm().program());
    command.args(["render", "--use-http", reference]).env("HOME", home);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_render_an_image_the_same() {
    if !ImageRegistry::is_available() {
        println!("not run: there is no docker-registry on this machine");
        return;
    }
    let folder = TempDir::new().unwrap();
    let registry = ImageRegistry::start(folder.path(), false).await.unwrap();
    let image = image(&catalog_folder("../bundles/foo"));
    let pushed = oci::push(&image, registry.address(), "a/foo", "v1").await.unwrap();
    for reference in [&pushed.reference, &pushed.pinned()] {
        let theirs = rendered_by_opm(reference, folder.path());
        let client = Registry::new([]).unwrap();
        let name = reference.parse().unwrap();
        let tree = pull(&client, &name, &Keychain::default(), &Limits::default()).await.unwrap();
        let ours = RegistryV1::of_image(&tree, reference).unwrap().blob().unwrap();
        let (ours, theirs) = (compare::without_zeros(ours), compare::without_zeros(theirs));
        assert_eq!(ours, theirs);
    }
}
