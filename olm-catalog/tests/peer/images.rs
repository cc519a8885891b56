//! Catalogs and bundles in images: both pull them from a registry and render the same blobs.
//!
//! Needs the program `docker-registry`; without it the test says so and checks nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use olm_catalog::bundle::RegistryV1;
use olm_catalog::image::{Keychain, Limits, Registry, pull};
use olm_testkit::not_run::not_run;
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, Image};
use olm_testkit::process::{Launch, Lifetime, Running};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{catalog_folder, compare, opm};
use crate::support::{ReservedAddress, built};

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
    let said = render(opm().program(), &["--use-http", reference], home);
    serde_json::from_slice(&said.expect("opm renders it")).unwrap()
}

/// What a program prints; the end of what it complains about when it refuses.
fn render(program: &Path, arguments: &[&str], home: &Path) -> Result<Vec<u8>, String> {
    let policy = home.join(".config/containers/policy.json");
    fs::create_dir_all(policy.parent().unwrap()).unwrap();
    fs::write(policy, "{\"default\": [{\"type\": \"insecureAcceptAnything\"}]}").unwrap();
    let mut command = Command::new(program);
    command.arg("render").args(arguments).env("HOME", home);
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(output.stdout) } else { Err(complaint) }
}

/// The blobs that a program prints, without the zero values that Go writes.
fn blobs(program: &Path, arguments: &[&str], home: &Path) -> Result<Vec<Value>, String> {
    let said = render(program, arguments, home)?;
    let blobs = serde_json::Deserializer::from_slice(&said).into_iter::<Value>();
    Ok(blobs.map(|blob| compare::without_zeros(blob.unwrap())).collect())
}

fn ours() -> PathBuf {
    built("olm-registry")
}

#[tokio::test(flavor = "multi_thread")]
async fn both_render_an_image_the_same() {
    if !ImageRegistry::is_available() {
        return not_run("there is no docker-registry on this machine");
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

#[tokio::test(flavor = "multi_thread")]
async fn both_render_a_catalog_in_an_image_the_same() {
    if !ImageRegistry::is_available() {
        println!("not run: there is no docker-registry on this machine");
        return;
    }
    let folder = TempDir::new().unwrap();
    let registry = ImageRegistry::start(folder.path(), false).await.unwrap();
    let content = fs::read(catalog_folder("etcd").join("catalog.yaml")).unwrap();
    let image = Image::builder()
        .file("/configs/etcd/catalog.yaml", content, 0o644)
        .label("operators.operatorframework.io.index.configs.v1", "/configs")
        .build()
        .unwrap();
    let pushed = oci::push(&image, registry.address(), "a/catalog", "v1").await.unwrap();
    let arguments = ["--use-http", pushed.reference.as_str()];
    let theirs = blobs(opm().program(), &arguments, folder.path()).unwrap();
    assert!(theirs.len() > 3);
    assert_eq!(blobs(&ours(), &arguments, folder.path()).unwrap(), theirs);
}

/// A registry with a certificate that no authority has signed, with the images of another one.
fn registry_with_tls(folder: &Path) -> (ReservedAddress, Running) {
    let place = ReservedAddress::reserve();
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
    fs::write(&certificate, certified.cert.pem()).unwrap();
    fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let config = json!({
        "version": "0.1", "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": folder.join("storage")}},
        "http": {"addr": place.address.to_string(), "tls": {"certificate": certificate, "key": key}},
    });
    let path = folder.join("tls.json");
    fs::write(&path, config.to_string()).unwrap();
    let launch = Launch {
        name: "docker-registry with TLS".to_owned(),
        program: "docker-registry".into(),
        args: vec!["serve".to_owned(), path.to_string_lossy().into_owned()],
        env: Vec::new(),
        log: folder.join("tls.log"),
        lifetime: Lifetime::Command,
    };
    let mut running = launch.start().unwrap();
    running.until_listening(place.address).unwrap();
    (place, running)
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_looked_at_unless_that_is_refused() {
    if !ImageRegistry::is_available() {
        println!("not run: there is no docker-registry on this machine");
        return;
    }
    let folder = TempDir::new().unwrap();
    let registry = ImageRegistry::start(folder.path(), false).await.unwrap();
    let image = image(&catalog_folder("../bundles/foo"));
    oci::push(&image, registry.address(), "a/foo", "v1").await.unwrap();
    let (place, _running) = registry_with_tls(folder.path());
    let reference = format!("{}/a/foo:v1", place.address);
    for flag in ["--skip-tls-verify", "--skip-tls-verify=true"] {
        let theirs = blobs(opm().program(), &[flag, &reference], folder.path()).unwrap();
        assert_eq!(blobs(&ours(), &[flag, &reference], folder.path()).unwrap(), theirs);
    }
    for program in [opm().program(), &ours()] {
        let refused = blobs(program, &[&reference], folder.path());
        assert!(refused.is_err(), "{program:?}: {refused:?}");
    }
}
