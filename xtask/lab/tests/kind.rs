//! `cargo xtask e2e --cluster kind` as a whole, with a `kind` on PATH that only writes down what it is
//! asked: in which order, and that nothing stays when OLM does not start.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use olm_testkit::built_programs;

/// Makes clusters whose kubeconfig leads nowhere.
const KIND: &str = r#"#!/bin/sh
echo "kind $*" >> "${0%/*}/asked"
[ "$1 $2" != "get kubeconfig" ] || echo "kind: Config"
"#;

#[test]
fn a_cluster_that_was_made_is_deleted_whatever_happens() {
    let dir = tempfile::tempdir().unwrap();
    let (kind, cache) = (dir.path().join("kind"), dir.path().join("cache"));
    fs::write(&kind, KIND).unwrap();
    fs::set_permissions(&kind, Permissions::from_mode(0o755)).unwrap();
    let given = ["--image", "registry.example.com/olm:1", "--workload", "registry.example.com/w:1"];
    let run = Command::new(built_programs().unwrap().join("xtask-lab"))
        .args(["e2e", "--cluster", "kind", "--focus", "smoke", "--report"])
        .arg(dir.path().join("report"))
        .args(given)
        .env("PATH", dir.path())
        .env("XDG_CACHE_HOME", &cache)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success(), "OLM cannot have started");
    assert!(complaint.contains("cannot use"), "the cause is reported: {complaint}");
    let asked = fs::read_to_string(dir.path().join("asked")).unwrap();
    assert_eq!(
        asked.replace(&*cache.to_string_lossy(), "CACHE"),
        "\
kind get clusters
kind create cluster --name olm-rs-e2e --config CACHE/olm-rs/kind/olm-rs-e2e/config.yaml \
--kubeconfig CACHE/olm-rs/kind/olm-rs-e2e/kubeconfig --wait 180s
kind get kubeconfig --name olm-rs-e2e
kind delete cluster --name olm-rs-e2e --kubeconfig CACHE/olm-rs/kind/olm-rs-e2e/kubeconfig
"
    );
}

#[test]
fn without_kind_the_remedy_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let run = Command::new(built_programs().unwrap().join("xtask-lab"))
        .args(["e2e", "--cluster", "kind", "--report"])
        .arg(dir.path().join("report"))
        .env("PATH", dir.path())
        .env("XDG_CACHE_HOME", dir.path())
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && complaint.contains("`--cluster local` needs neither"));
}
