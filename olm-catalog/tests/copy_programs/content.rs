//! `copy-content`: what `extractContent` of a CatalogSource runs.

use std::fs;

use rstest::rstest;

use super::Root;

const CATALOG: &str = "copy-content --catalog.from=configs --catalog.to=out/catalog";

fn image() -> Root {
    let root = Root::new();
    root.file("configs/etcd/catalog.yaml", "a").file("configs/x.json", "{}");
    root.file("tmp/cache/digest", "1");
    fs::create_dir(root.path("out")).unwrap();
    root
}

#[test]
fn catalog_and_cache_replace_what_is_there() {
    let root = image();
    root.file("out/catalog/old/file", "old").file("out/cache", "a file");
    let cache = "--cache.from tmp/cache --cache.to out/cache";
    root.run(&format!("{CATALOG} {cache}")).ok();
    let expected = [
        "cache/",
        "cache/digest",
        "catalog/",
        "catalog/etcd/",
        "catalog/etcd/catalog.yaml",
        "catalog/x.json",
    ];
    assert_eq!(root.list("out"), expected);
    root.run(CATALOG).ok();
    assert_eq!(root.list("out"), expected);
}

#[test]
fn every_user_can_read_the_result() {
    let root = image();
    root.set_mode("configs/x.json", 0o600).set_mode("configs/etcd", 0o700);
    root.file("configs/run", "").set_mode("configs/run", 0o700);
    root.run(CATALOG).ok();
    let modes = ["x.json", "etcd", "etcd/catalog.yaml", "run"];
    let modes = modes.map(|name| root.mode(&format!("out/catalog/{name}")));
    assert_eq!(modes, [0o644, 0o755, 0o644, 0o744]);
}

#[test]
fn links_stay_links_but_for_the_folder_itself() {
    let root = image();
    root.link("configs/link", "x.json").link("current", "configs");
    root.run("copy-content --catalog.from=current --catalog.to=out/catalog").ok();
    assert!(!root.path("out/catalog").is_symlink());
    assert_eq!(fs::read_link(root.path("out/catalog/link")).unwrap().to_str(), Some("x.json"));
}

#[test]
fn a_missing_cache_is_a_failure_that_keeps_the_old_one() {
    let root = image();
    root.file("out/cache/digest", "old");
    let line = format!("{CATALOG} --cache.from=nope --cache.to=out/cache");
    let message = root.run(&line).failed();
    assert_eq!(message, "failed to copy nope to out/cache: nope: No such file or directory\n");
    assert_eq!(root.read("out/cache/digest"), "old");
    assert_eq!(root.read("out/catalog/x.json"), "{}");
}

#[rstest]
#[case("", "required flag(s) \"catalog.from\", \"catalog.to\" not set")]
#[case("--catalog.from=configs", "required flag(s) \"catalog.to\" not set")]
#[case(
    "--catalog.from=configs --catalog.to=out/catalog --cache.from=tmp/cache",
    "if any flags in the group [cache.from cache.to] are set they must all be set; missing [cache.to]"
)]
#[case("--catalog.form=configs", "unknown flag: --catalog.form")]
fn bad_command_lines_are_explained(#[case] flags: &str, #[case] message: &str) {
    let root = image();
    let error = root.run(&format!("copy-content {flags}")).failed();
    assert!(error.starts_with(&format!("Error: {message}\nCopy catalog")), "{error}");
    assert!(root.list("out").is_empty());
}

#[rstest]
#[case("configs", "configs/x")]
#[case("configs/etcd", "configs")]
#[case("configs", "./out/../configs")]
fn source_and_destination_must_be_apart(#[case] from: &str, #[case] to: &str) {
    let root = image();
    let line = format!("copy-content --catalog.from={from} --catalog.to={to}");
    let message = root.run(&line).failed();
    assert_eq!(message, format!("failed to copy {from} to {to}: one is inside the other\n"));
    assert_eq!(root.list("configs").len(), 3);
}

#[test]
fn special_files_are_refused() {
    let root = image();
    root.pipe("configs/pipe");
    let message = root.run(CATALOG).failed();
    assert!(
        message.ends_with("configs/pipe is neither a file nor a folder nor a link\n"),
        "{message}"
    );
}
