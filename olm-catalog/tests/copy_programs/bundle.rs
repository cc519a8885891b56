//! `cpb`: what the Job runs inside a bundle image.

use std::fs;

use rstest::rstest;

use super::Root;

const KEY: &str = "operators.operatorframework.io.bundle.manifests.v1";

/// A bundle whose annotations name its folder of manifests like this.
fn image(manifests: &str) -> Root {
    let root = Root::new();
    root.file("metadata/annotations.yaml", &format!("annotations:\n  {KEY}: {manifests:?}\n"));
    root.file("metadata/dependencies.yaml", "dependencies: []");
    root.file("manifests/a.csv.yaml", "kind: ClusterServiceVersion");
    root.file("manifests/a.crd.yaml", "kind: CustomResourceDefinition");
    root.file("tests/scorecard/config.yaml", "kind: Configuration");
    root
}

#[rstest]
fn manifests_and_annotations_are_copied(
    #[values("manifests/", "/manifests/", "manifests", "./manifests")] manifests: &str,
    #[values("cpb", "cpb bundle", "cpb ./bundle/")] line: &str,
) {
    let root = image(manifests);
    root.set_mode("manifests/a.csv.yaml", 0o600);
    let expected = [
        "manifests/",
        "manifests/a.crd.yaml",
        "manifests/a.csv.yaml",
        "metadata/",
        "metadata/annotations.yaml",
    ];
    // What an earlier attempt left is replaced, and never taken for the bundle.
    for _ in 0..2 {
        let said = root.run(line).ok().out;
        assert!(said.ends_with("copied 3 files and folders, 57 bytes\n"), "{said}");
        assert_eq!(root.list("bundle"), expected);
        root.file("bundle/manifests/stale.yaml", "kind: Old");
    }
    assert_eq!(root.mode("bundle/manifests/a.csv.yaml"), 0o644);
}

#[test]
fn an_output_elsewhere_is_honoured() {
    let (root, volume) = (image("manifests/"), Root::new());
    let target = volume.path("bundle");
    root.run(&format!("cpb {}", target.display())).ok();
    assert_eq!(volume.list("bundle").len(), 5);
    assert!(!root.path("bundle").exists());
}

#[test]
fn other_folders_are_found_by_their_annotations() {
    let root = Root::new();
    root.file("opt/op/annotations.yaml", &format!("annotations: {{{KEY}: opt/op/files}}"));
    root.file("opt/op/files/a.yaml", "kind: A");
    root.file("etc/annotations.yaml", "annotations: {some.other/key: x}");
    root.file("usr/annotations.yaml", "[");
    root.file("proc/1/annotations.yaml", &format!("annotations: {{{KEY}: proc/1}}"));
    root.link("loop", ".");
    let said = root.run("cpb").ok().out;
    assert!(
        said.contains("skipping: ") && said.contains("usr/annotations.yaml: not YAML"),
        "{said}"
    );
    assert_eq!(root.read("bundle/manifests/a.yaml"), "kind: A");
}

#[test]
fn manifests_is_the_folder_of_a_bundle_that_names_none() {
    let root = image("x");
    root.file("metadata/annotations.yaml", "annotations: {}");
    root.run("cpb").ok();
    assert_eq!(root.list("bundle/manifests").len(), 2);
}

#[test]
fn an_image_without_a_bundle_is_no_bundle_image() {
    let root = Root::new();
    root.file("etc/passwd", "");
    let message = root.run("cpb").failed();
    assert!(message.starts_with("Error: found no bundle below /"), "{message}");
    assert!(root.run("cpb a b").failed().starts_with("Error: there can be one output directory"));
}

#[rstest]
#[case("../other", "must not contain \"..\"")]
#[case("manifests/../../etc", "must not contain \"..\"")]
#[case("/", "is the whole image")]
#[case("nope", "does not exist")]
#[case("metadata/annotations.yaml", "is no folder")]
#[case("/var/run/secrets", "out of the image")]
#[case("proc/1", "out of the image")]
#[case("away", "out of the image")]
#[case("bundle/manifests", "out of the image")]
fn manifests_must_be_a_folder_of_the_image(#[case] value: &str, #[case] why: &str) {
    let root = image(value);
    root.file("var/run/secrets/token", "secret").file("proc/1/environ", "secret");
    root.file("bundle/manifests/own.yaml", "").link("away", "/etc");
    let message = root.run("cpb").failed();
    assert!(message.contains(&format!("the folder of manifests {value:?} ")), "{message}");
    assert!(message.ends_with(&format!("{why}\n")), "{message}");
    assert_eq!(root.list("bundle"), ["manifests/", "manifests/own.yaml"]);
}

#[test]
fn links_inside_the_manifests_become_files_and_others_are_refused() {
    let root = image("manifests");
    root.link("manifests/again.yaml", "a.csv.yaml").run("cpb").ok();
    assert!(root.path("bundle/manifests/again.yaml").symlink_metadata().unwrap().is_file());
    for target in ["/etc/hostname", "../metadata/annotations.yaml", "nowhere", ".", "../manifests"]
    {
        let root = image("manifests");
        let message = root.link("manifests/bad.yaml", target).run("cpb").failed();
        let expected =
            format!("manifests/bad.yaml is a link to {target}, which is no file inside ");
        assert!(message.contains(&expected), "{message}");
        assert!(!root.path("bundle/manifests/bad.yaml").exists());
    }
}

#[test]
fn annotations_are_no_way_out_of_the_image() {
    let outside = Root::new();
    outside.file("annotations.yaml", &format!("annotations: {{{KEY}: manifests}}"));
    let root = image("manifests");
    fs::remove_file(root.path("metadata/annotations.yaml")).unwrap();
    root.link("metadata/annotations.yaml", outside.path("annotations.yaml").to_str().unwrap());
    assert!(root.run("cpb").failed().starts_with("Error: found no bundle"));
}

#[test]
fn hostile_annotations_are_refused() {
    let mistakes = [
        ("#".repeat(300 << 10), "the file is larger than 262144 bytes"),
        ("[".repeat(100_000), "not YAML"),
        ("a: 1".to_owned(), "there is no map `annotations`"),
        (format!("annotations: {{{KEY}: [manifests]}}"), "must be a text"),
    ];
    for (text, why) in mistakes {
        let root = image("manifests");
        let message = root.file("metadata/annotations.yaml", &text).run("cpb").failed();
        assert!(
            message.contains("metadata/annotations.yaml: ") && message.contains(why),
            "{message}"
        );
        assert!(!root.path("bundle").exists());
    }
}

#[test]
fn too_much_and_the_wrong_kind_are_refused() {
    let root = image("manifests");
    let huge = fs::File::create(root.path("manifests/huge.yaml")).unwrap();
    huge.set_len(65 << 20).unwrap();
    let message = root.run("cpb").failed();
    assert!(message.ends_with("/manifests holds more than 67108864 bytes\n"), "{message}");
    let root = image("manifests");
    let message = root.pipe("manifests/pipe.yaml").run("cpb").failed();
    assert!(message.ends_with("manifests/pipe.yaml is neither a file nor a folder nor a link\n"));
    let root = image("manifests");
    let deep = format!("manifests/{}x.yaml", "d/".repeat(20));
    assert!(root.file(&deep, "").run("cpb").failed().ends_with("nested deeper than 16 folders\n"));
}
