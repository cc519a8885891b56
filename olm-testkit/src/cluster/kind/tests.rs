//! The configuration and the sequence of commands, with a `kind` that only writes them down.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ClusterBackend, Commands, KindCluster, System};
use crate::progress::Progress;

/// Answers as kind does for a cluster that comes and goes, and writes down what it was asked, in its
/// own folder. A shell without other programs is all that it needs.
const KIND: &str = r#"#!/bin/sh
echo "kind $*" >> "${0%/*}/asked"
case "$1 $2" in
    "get clusters") echo other; [ ! -e "${0%/*}/configuration" ] || echo olm-rs ;;
    "get kubeconfig") echo "kind: Config" ;;
    "create cluster") while IFS= read -r line; do echo "$line"; done < "$6" > "${0%/*}/configuration" ;;
    "load image-archive" | "delete cluster") ;;
    *) echo "kind does not know $*" >&2; exit 1 ;;
esac
"#;

/// A folder with that kind in it.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        let kind = machine.file("kind");
        fs::write(&kind, KIND).unwrap();
        fs::set_permissions(&kind, Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    fn system(&self) -> Arc<dyn Commands> {
        Arc::new(System { path: Some(self.0.path().to_owned()) })
    }
}

fn cluster(dir: &Path, machine: &Machine) -> KindCluster {
    KindCluster::with("olm-rs", dir, machine.system(), Progress::new(|_| {})).unwrap()
}

/// Golden: these lines are the contract with kind.
#[tokio::test]
async fn commands_and_configuration_are_those_that_kind_documents() {
    let (dir, machine) = (tempfile::tempdir().unwrap(), Machine::new());
    let cluster = cluster(dir.path(), &machine);
    cluster.up().await.unwrap();
    cluster.up().await.unwrap();
    cluster.load(Path::new("target/olm-rs-image.tar")).await.unwrap();
    let kubeconfig = cluster.kubeconfig().await.unwrap();
    assert_eq!(fs::read_to_string(&kubeconfig).unwrap(), "kind: Config\n");
    cluster.down().await.unwrap();
    assert!(!kubeconfig.exists());

    let root = dir.path().to_string_lossy().into_owned();
    let expected = "\
kind get clusters
kind create cluster --name olm-rs --config DIR/olm-rs/config.yaml --kubeconfig DIR/olm-rs/kubeconfig --wait 180s
kind get clusters
kind load image-archive target/olm-rs-image.tar --name olm-rs
kind get kubeconfig --name olm-rs
kind delete cluster --name olm-rs --kubeconfig DIR/olm-rs/kubeconfig
";
    assert_eq!(machine.read("asked").replace(&root, "DIR"), expected);
    let expected = "\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
";
    assert_eq!(machine.read("configuration"), expected);
}

#[test]
fn names_that_kind_refuses_are_refused_before_it_is_asked() {
    let (dir, machine) = (tempfile::tempdir().unwrap(), Machine::new());
    for name in ["", "Upper", "a_b", &"x".repeat(51)] {
        let made = KindCluster::with(name, dir.path(), machine.system(), Progress::new(|_| {}));
        assert!(made.is_err(), "{name:?}");
    }
    assert!(!machine.file("asked").exists());
}

#[tokio::test]
async fn a_program_that_is_not_there_and_one_that_fails_are_named() {
    let system = System::default();
    let error = system.run("no-such-program-of-ours", &[]).await.unwrap_err();
    assert!(error.to_string().contains("`no-such-program-of-ours`"), "{error:#}");
    let error = system.run("sh", &["-c", "echo wrong >&2; exit 3"]).await.unwrap_err();
    assert!(error.to_string().ends_with("failed:\nwrong"), "{error:#}");
}
