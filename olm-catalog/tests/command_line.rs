//! The binary `olm-registry` (feature `server`).

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn registry(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olm-registry"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn etcd() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs/etcd");
    folder.to_str().unwrap().to_owned()
}

/// Starts a server on a free port; gives the line it prints once it listens.
fn start() -> (Child, String) {
    let mut child =
        registry(&["serve", &etcd(), "-p", "0", "--address", "127.0.0.1"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

#[test]
fn prints_where_it_listens_and_ends_on_a_signal() {
    for signal in ["TERM", "INT"] {
        let (mut child, line) = start();
        assert!(line.contains("(1 packages, 8 channel entries) on 127.0.0.1:"), "{line}");
        let port = line.trim_end().rsplit(':').next().unwrap();
        assert_ne!(port.parse::<u16>().unwrap(), 0);
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        assert!(child.wait().unwrap().success(), "{signal}");
    }
}

#[test]
fn a_bad_catalog_is_refused_with_everything_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{schema: olm.package, name: foo}\n---\n{schema: olm.package, name: foo.bar}\n";
    std::fs::write(folder.path().join("catalog.yaml"), format!("---\n{text}")).unwrap();
    let output = registry(&["serve", folder.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    insta::assert_snapshot!("bad_catalog", message);
}

#[test]
fn a_missing_folder_is_named() {
    let output = registry(&["serve", "/no/such/folder"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("Error: read /no/such/folder: "), "{message}");
}
