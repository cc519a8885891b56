//! Bundles in images that were never on a disk.

use rstest::rstest;
use serde_json::json;
use tar::{Builder, EntryType, Header};

use super::*;
use crate::image::{Compression, Limits, apply};

/// An image of one layer: `path`, and content or `-> target`.
fn image(files: &[(&str, &str)]) -> Tree {
    let mut archive = Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = Header::new_gnu();
        header.set_mode(0o644);
        match content.strip_prefix("-> ") {
            Some(target) => {
                header.set_entry_type(EntryType::Symlink);
                header.set_size(0);
                archive.append_link(&mut header, path, target).unwrap();
            }
            None => {
                header.set_size(content.len() as u64);
                archive.append_data(&mut header, path, content.as_bytes()).unwrap();
            }
        }
    }
    let layer = archive.into_inner().unwrap();
    apply([(layer.as_slice(), Compression::None)], &Limits::default()).unwrap()
}

fn annotations(manifests: &str) -> String {
    let key = olm_types::annotations::BUNDLE_MANIFESTS;
    json!({"annotations": {key: manifests}}).to_string()
}

#[rstest]
#[case::usual("metadata/annotations.yaml", "manifests/", "manifests")]
#[case::elsewhere("opt/x/annotations.yaml", "/opt/x/files", "opt/x/files")]
#[case::by_default("annotations.yaml", "", "manifests")]
fn the_manifests_are_where_the_annotations_say(
    #[case] file: &str,
    #[case] value: &str,
    #[case] folder: &str,
) {
    let text = match value {
        "" => json!({"annotations": {olm_types::annotations::BUNDLE_PACKAGE: "a"}}).to_string(),
        value => annotations(value),
    };
    let (b, a) = (format!("{folder}/b.yaml"), format!("{folder}/a.yaml"));
    let bundle = unpack(&image(&[(file, &text), (&b, "B"), (&a, "A")])).unwrap();
    let files: Vec<_> = bundle.files.iter().map(|file| (&*file.name, &*file.content)).collect();
    assert_eq!(files, [("a.yaml", &b"A"[..]), ("b.yaml", b"B")]);
}

#[test]
fn of_several_the_usual_place_counts_and_foreign_ones_do_not() {
    let (right, wrong) = (annotations("right"), annotations("wrong"));
    let usual = image(&[
        ("metadata/annotations.yaml", &right),
        ("z/annotations.yaml", &wrong),
        ("right/a", "A"),
    ]);
    assert_eq!(unpack(&usual).unwrap().files.len(), 1);
    let unusual = image(&[
        ("a/annotations.yaml", &wrong),
        ("b/annotations.yaml", &right),
        ("c/annotations.yaml", "no: annotations"),
        ("proc/annotations.yaml", &wrong),
        ("right/a", "A"),
    ]);
    assert_eq!(unpack(&unusual).unwrap().files.len(), 1);
}

#[test]
fn links_lead_to_files_of_the_image() {
    let text = annotations("/m");
    let files = [
        ("metadata/annotations.yaml", &*text),
        ("m", "-> real"),
        ("real/a", "-> ../b"),
        ("b", "B"),
    ];
    assert_eq!(unpack(&image(&files)).unwrap().files[0].content, b"B");
}

#[rstest]
#[case::nothing(&[("a", "A")], "the image holds no bundle")]
#[case::no_yaml(&[("metadata/annotations.yaml", "{")], "metadata/annotations.yaml: not YAML")]
#[case::dots(&[("metadata/annotations.yaml", "../etc")], "must not contain \"..\"")]
#[case::everything(&[("metadata/annotations.yaml", "/")], "is the whole image")]
#[case::absent(&[("metadata/annotations.yaml", "m")], "is no folder of the image")]
#[case::out(&[("metadata/annotations.yaml", "m"), ("m", "-> ../../etc")], "leads out of the image")]
#[case::folder(&[("metadata/annotations.yaml", "m"), ("m/sub/a", "A")], "m/sub is no file")]
#[case::link_out(&[("metadata/annotations.yaml", "m"), ("m/a", "-> /../etc/passwd")], "m/a is no file")]
fn bad_bundles(#[case] files: &[(&str, &str)], #[case] expected: &str) {
    let text;
    let mut files = files.to_vec();
    if files[0].0 == "metadata/annotations.yaml" && files[0].1 != "{" {
        text = annotations(files[0].1);
        files[0].1 = &text;
    }
    let error = unpack(&image(&files)).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_file_that_no_config_map_holds_is_reported() {
    let limits = Limits { file: 400, ..Limits::default() };
    let mut archive = Builder::new(Vec::new());
    for (path, content) in
        [("metadata/annotations.yaml", annotations("m")), ("m/a", "x".repeat(500))]
    {
        let mut header = Header::new_gnu();
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content.as_bytes()).unwrap();
    }
    let layer = archive.into_inner().unwrap();
    let image = apply([(layer.as_slice(), Compression::None)], &limits).unwrap();
    assert_eq!(unpack(&image), Err(UnpackError::Large("m/a".to_owned(), 500)));
}
