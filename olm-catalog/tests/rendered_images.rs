//! Catalogs and bundles in images on a disk are rendered as from their folders.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use olm_testkit::oci::Image;
use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;

use crate::support::built;

const TEMPLATE: &str = "--alpha-image-ref-template=quay.io/{{.Package}}/{{.Name}}:v{{.Version}}";

fn bundle() -> PathBuf {
    PathBuf::from("tests/bundles/foo")
}

/// An image of the bundle in two layers; the second one takes something away that is in the first.
fn image() -> Image {
    let mut image = Image::builder().file("/manifests/junk.yaml", "kind: Junk", 0o644);
    for part in ["metadata", "manifests"] {
        for entry in fs::read_dir(bundle().join(part)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            image = image.file(&format!("/{part}/{name}"), fs::read(entry.path()).unwrap(), 0o644);
        }
    }
    image.layer().file("/manifests/.wh.junk.yaml", "", 0o644).build().unwrap()
}

fn archive(folder: &Path, image: &Image) -> PathBuf {
    let path = folder.join("image.tar");
    image.write_archive(&path).unwrap();
    path
}

/// The archive's files, where the index is another one.
fn unpacked(archive: &Path, to: &Path) -> PathBuf {
    tar::Archive::new(File::open(archive).unwrap()).unpack(to).unwrap();
    to.to_owned()
}

fn render(arguments: &[&str]) -> Output {
    let program = built("olm-registry");
    Command::new(program).arg("render").args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Archive,
    Layout,
    Saved,
}

#[rstest]
fn every_form_is_the_same_bundle(
    #[values(Form::Archive, Form::Layout, Form::Saved)] form: Form,
    #[values(false, true)] named: bool,
) {
    let folder = TempDir::new().unwrap();
    let archive = archive(folder.path(), &image());
    let path = match form {
        Form::Archive => archive,
        Form::Layout => unpacked(&archive, &folder.path().join("layout")),
        Form::Saved => {
            // As older programs write it: without an index, under a name of a file.
            let layout = unpacked(&archive, &folder.path().join("layout"));
            for file in ["index.json", "oci-layout"] {
                fs::remove_file(layout.join(file)).unwrap();
            }
            let path = folder.path().join("saved.tar");
            let mut saved = tar::Builder::new(File::create(&path).unwrap());
            saved.append_dir_all("", &layout).unwrap();
            saved.finish().unwrap();
            path
        }
    };
    let template = if named { vec![TEMPLATE] } else { Vec::new() };
    let [of_folder, of_image] = [bundle(), path]
        .map(|reference| render(&[&[text(&reference)], template.as_slice()].concat()));
    assert!(of_image.status.success(), "{}", String::from_utf8_lossy(&of_image.stderr));
    assert!(!of_image.stdout.is_empty());
    assert_eq!(String::from_utf8(of_image.stdout), String::from_utf8(of_folder.stdout));
}

fn refusal(path: &Path) -> String {
    let output = render(&[text(path)]);
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_image_without_a_bundle_is_refused() {
    let folder = TempDir::new().unwrap();
    let image = Image::builder().file("/configs/catalog.yaml", "", 0o644).build().unwrap();
    let said = refusal(&archive(folder.path(), &image));
    assert!(said.contains("holds no bundle: folders manifests and metadata"), "{said}");
}

#[test]
fn layers_that_are_not_what_they_should_be_are_refused() {
    let folder = TempDir::new().unwrap();
    let image = image();
    let layout = unpacked(&archive(folder.path(), &image), &folder.path().join("layout"));
    let digest = image.layers()[0].digest();
    let blob = layout.join("blobs/sha256").join(digest.strip_prefix("sha256:").unwrap());
    fs::write(&blob, "another").unwrap();
    let said = refusal(&layout);
    assert!(said.contains(&format!("should have the digest {digest}")), "{said}");
    fs::remove_file(&blob).unwrap();
    assert!(refusal(&layout).contains(": it is not there"), "{}", refusal(&layout));
}

#[rstest]
#[case(json!({"schemaVersion": 2, "manifests": [{"digest": "sha256:../../etc/passwd"}]}), "is no digest by SHA-256")]
#[case(json!({"schemaVersion": 2, "manifests": []}), "it lists no manifest")]
#[case(json!([]), "the image's manifest: ")]
fn bad_layouts(#[case] index: serde_json::Value, #[case] expected: &str) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("oci-layout"), "{}").unwrap();
    fs::write(folder.path().join("index.json"), index.to_string()).unwrap();
    let said = refusal(folder.path());
    assert!(said.contains(expected), "{said}");
}

/// An image as `opm generate dockerfile` makes it: a label names the folder.
fn catalog_image(label: (&str, &str)) -> Image {
    let file = Path::new("tests/catalogs/etcd/catalog.yaml");
    let content = fs::read(file).unwrap();
    let image = Image::builder().file("/configs/etcd/catalog.yaml", content, 0o644);
    let image = image.file("/bin/opm", "program", 0o755).label(label.0, label.1);
    image.build().unwrap()
}

#[test]
fn a_catalog_in_an_image_is_that_of_its_folder() {
    let folder = TempDir::new().unwrap();
    let label = ("operators.operatorframework.io.index.configs.v1", "/configs");
    let archive = archive(folder.path(), &catalog_image(label));
    let layout = unpacked(&archive, &folder.path().join("layout"));
    let catalog = Path::new("tests/catalogs/etcd");
    let of_folder = render(&[text(catalog)]);
    for path in [&archive, &layout] {
        let of_image = render(&[text(path)]);
        assert!(of_image.status.success(), "{}", String::from_utf8_lossy(&of_image.stderr));
        assert_eq!(String::from_utf8(of_image.stdout), String::from_utf8(of_folder.stdout.clone()));
    }
}

#[rstest]
#[case("operators.operatorframework.io.index.configs.v1", "/nope", "which is not there")]
#[case("operators.operatorframework.io.index.database.v1", "/database/index.db", "SQLite")]
fn a_catalog_that_cannot_be_read_is_refused(
    #[case] label: &str,
    #[case] value: &str,
    #[case] expected: &str,
) {
    let folder = TempDir::new().unwrap();
    let said = refusal(&archive(folder.path(), &catalog_image((label, value))));
    assert!(said.contains(expected), "{said}");
}
