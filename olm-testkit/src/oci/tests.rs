//! Archives are well-formed, the same input gives the same bytes, and registries get everything.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::digest::{blob_path, sha256};
use super::document::{Config, Descriptor, Index, Manifest, media_type};
use super::*;

/// An image with everything that a description can hold.
fn sample() -> ImageBuilder {
    Image::builder()
        .reference("localhost/sample:1.0.0".parse().unwrap())
        .directory("/tmp", 0o1777)
        .file("/bin/tool", b"tool".repeat(1000), 0o755)
        .hard_link("/bin/another", "/bin/tool")
        .link("/bin/sh", "tool")
        .layer()
        .file("/etc/passwd", "root:x:0:0::/:/sbin/nologin\n", 0o644)
        .file(&format!("/etc/{}/long", "x".repeat(200)), "long", 0o600)
        .user("1001:0")
        .entrypoint(["/bin/tool"])
        .cmd(["serve"])
        .env("PATH", "/bin")
        .env("A", "1")
        .workdir("/tmp")
        .expose(8080)
        .volume("/data")
        .label("operators.operatorframework.io.bundle.package.v1", "etcd")
        .annotation("org.opencontainers.image.title", "sample")
}

/// Everything in an uncompressed tar archive: kind, mode, link target and content by path.
fn entries(tar: &[u8]) -> BTreeMap<String, (tar::EntryType, u32, String, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(tar).entries().unwrap() {
        let mut entry = entry.unwrap();
        let header = entry.header().clone();
        assert_eq!(
            (header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()),
            (0, 0, 0)
        );
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let target = entry.link_name().unwrap();
        let target = target.map_or(String::new(), |path| path.to_string_lossy().into_owned());
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        let value = (header.entry_type(), header.mode().unwrap(), target, content);
        assert!(found.insert(path, value).is_none());
    }
    found
}

fn archive(image: &Image) -> BTreeMap<String, Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("image.tar");
    image.write_archive(&path).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let files = entries(&bytes).into_iter().filter(|(path, _)| !path.ends_with('/'));
    files.map(|(path, (.., content))| (path, content)).collect()
}

/// The blob of a descriptor, with size and digest checked.
fn blob<'a>(files: &'a BTreeMap<String, Vec<u8>>, descriptor: &Descriptor) -> &'a [u8] {
    let bytes = &files[&blob_path(&descriptor.digest)];
    assert_eq!(bytes.len() as u64, descriptor.size);
    assert_eq!(sha256(bytes), descriptor.digest);
    bytes
}

fn unpack(layer: &[u8]) -> Vec<u8> {
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(layer).read_to_end(&mut tar).unwrap();
    tar
}

#[test]
fn an_archive_is_an_image_layout() {
    let image = sample().build().unwrap();
    let files = archive(&image);
    assert_eq!(files["oci-layout"], br#"{"imageLayoutVersion":"1.0.0"}"#);
    let index: Index = serde_json::from_slice(&files["index.json"]).unwrap();
    assert_eq!((index.schema_version, index.media_type.as_str()), (2, media_type::INDEX));
    let [top] = &index.manifests[..] else { panic!("{index:?}") };
    assert_eq!(
        (top.media_type.as_str(), top.digest.as_str()),
        (media_type::MANIFEST, image.digest())
    );
    assert_eq!(top.annotations["org.opencontainers.image.ref.name"], "localhost/sample:1.0.0");

    let manifest: Manifest = serde_json::from_slice(blob(&files, top)).unwrap();
    assert_eq!((manifest.schema_version, manifest.media_type.as_str()), (2, media_type::MANIFEST));
    assert_eq!(manifest.annotations["org.opencontainers.image.title"], "sample");
    assert_eq!(manifest.config.media_type, media_type::CONFIG);
    let config: Config = serde_json::from_slice(blob(&files, &manifest.config)).unwrap();
    assert_eq!(config.rootfs.kind, "layers");
    let diff_ids: Vec<String> = manifest
        .layers
        .iter()
        .map(|layer| {
            assert_eq!(layer.media_type, media_type::LAYER);
            sha256(&unpack(blob(&files, layer)))
        })
        .collect();
    assert_eq!(diff_ids, config.rootfs.diff_ids);
    // Layout, index, docker's list, manifest, config, two layers: nothing else is carried around.
    assert_eq!(files.len(), 7);
    let sizes: u64 = manifest.layers.iter().map(|layer| layer.size).sum();
    assert_eq!(image.size(), sizes + manifest.config.size + top.size);
}

#[test]
fn the_list_for_docker_names_existing_blobs() {
    let files = archive(&sample().build().unwrap());
    let list: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(list[0]["RepoTags"], serde_json::json!(["localhost/sample:1.0.0"]));
    let layers = list[0]["Layers"].as_array().unwrap();
    assert_eq!(layers.len(), 2);
    for path in layers.iter().chain([&list[0]["Config"]]) {
        assert!(files.contains_key(path.as_str().unwrap()), "{path}");
    }
}

#[test]
fn a_config_says_how_the_image_is_run() {
    let image = sample().build().unwrap();
    let config: serde_json::Value = serde_json::from_slice(&image.config.bytes).unwrap();
    assert_eq!(
        config["config"],
        serde_json::json!({
            "User": "1001:0",
            "ExposedPorts": {"8080/tcp": {}},
            "Env": ["A=1", "PATH=/bin"],
            "Entrypoint": ["/bin/tool"],
            "Cmd": ["serve"],
            "Volumes": {"/data": {}},
            "WorkingDir": "/tmp",
            "Labels": {"operators.operatorframework.io.bundle.package.v1": "etcd"},
        })
    );
    assert_eq!((&config["architecture"], &config["os"]), (&"amd64".into(), &"linux".into()));
}

#[test]
fn layers_hold_what_was_described() {
    let image = sample().build().unwrap();
    let found = entries(&unpack(&image.layers()[0].blob().bytes));
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["bin/", "bin/another", "bin/sh", "bin/tool", "tmp/"]);
    assert_eq!(found["tmp/"], (tar::EntryType::Directory, 0o1777, String::new(), Vec::new()));
    assert_eq!((found["bin/tool"].1, found["bin/tool"].3.len()), (0o755, 4000));
    assert_eq!((found["bin/sh"].0, found["bin/sh"].2.as_str()), (tar::EntryType::Symlink, "tool"));
    let link = &found["bin/another"];
    assert_eq!((link.0, link.2.as_str()), (tar::EntryType::Link, "bin/tool"));

    let found = entries(&unpack(&image.layers()[1].blob().bytes));
    let long = format!("etc/{}/long", "x".repeat(200));
    assert_eq!((found[&long].1, found[&long].3.as_slice()), (0o600, &b"long"[..]));
}

/// Extraction goes through an archive from its start to its end.
#[test]
fn a_hard_link_comes_after_its_file() {
    let image = sample().build().unwrap();
    let tar = unpack(&image.layers()[0].blob().bytes);
    let mut archive = tar::Archive::new(&tar[..]);
    let last = archive.entries().unwrap().last().unwrap().unwrap();
    assert_eq!(last.path().unwrap(), Path::new("bin/another"));
}

#[test]
fn the_same_description_in_another_order_is_the_same_image() {
    let one = Image::builder().file("/a", "1", 0o644).file("/b/c", "2", 0o644);
    let other = Image::builder().file("/b/c", "2", 0o644).file("/a", "1", 0o644);
    let one = one.env("A", "1").env("B", "2").label("x", "1").label("y", "2").build().unwrap();
    let other = other.env("B", "2").env("A", "1").label("y", "2").label("x", "1").build().unwrap();
    assert_eq!(one.digest(), other.digest());
    assert_eq!(archive(&one), archive(&other));
    let different = Image::builder().file("/a", "1", 0o600).file("/b/c", "2", 0o644);
    assert_ne!(one.digest(), different.build().unwrap().digest());
}

#[test]
fn a_directory_of_a_lower_layer_is_not_made_anew() {
    let image = Image::builder()
        .directory("/data", 0o770)
        .layer()
        .file("/data/deep/file", "", 0o644)
        .build()
        .unwrap();
    let found = entries(&unpack(&image.layers()[1].blob().bytes));
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["data/deep/", "data/deep/file"]);
}

#[test]
fn wrong_descriptions_are_refused() {
    let refused = |builder: ImageBuilder| format!("{:#}", builder.build().unwrap_err());
    for path in ["", "/", "/../etc", "/a//b", "/a/./b", "a\0b"] {
        let error = refused(Image::builder().file(path, "", 0o644));
        assert!(error.contains("is not a path inside an image"), "{error}");
    }
    let twice = Image::builder().file("/a/b", "", 0o644).link("a/b/", "c");
    assert_eq!(refused(twice), "a layer has two entries for /a/b");
    let dangling = Image::builder().file("/a", "", 0o644).layer().hard_link("/b", "/a");
    assert_eq!(refused(dangling), "/b is a link to /a, not in its layer");
}

#[test]
fn an_archive_that_cannot_be_written_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing/image.tar");
    let error = format!("{:#}", sample().build().unwrap().write_archive(&missing).unwrap_err());
    assert!(error.starts_with("cannot write ") && error.contains("missing/image.tar"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
