//! The configuration and the sequence of commands, with a program that only writes them down.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use async_trait::async_trait;

use super::{ClusterBackend, Commands, KindCluster, System};
use crate::progress::Progress;

/// Answers as kind does for a cluster that comes and goes, and writes down what it was asked.
#[derive(Default)]
struct Recorder {
    lines: Mutex<Vec<String>>,
    configuration: Mutex<String>,
    exists: Mutex<bool>,
}

#[async_trait]
impl Commands for Recorder {
    async fn run(&self, program: &str, args: &[&str]) -> Result<String> {
        self.lines.lock().unwrap().push(format!("{program} {}", args.join(" ")));
        let mut exists = self.exists.lock().unwrap();
        match args {
            ["get", "clusters"] if *exists => Ok("other\nolm-rs\n".to_owned()),
            ["get", "clusters"] => Ok("other\n".to_owned()),
            ["get", "kubeconfig", ..] => Ok("kind: Config\n".to_owned()),
            ["create", "cluster", _, _, "--config", config, ..] => {
                *self.configuration.lock().unwrap() = fs::read_to_string(config).unwrap();
                *exists = true;
                Ok(String::new())
            }
            ["load", ..] => Ok(String::new()),
            ["delete", ..] => {
                *exists = false;
                Ok(String::new())
            }
            other => bail!("kind does not know {other:?}"),
        }
    }
}

fn cluster(dir: &Path, recorder: &Arc<Recorder>) -> KindCluster {
    let commands = Arc::clone(recorder) as Arc<dyn Commands>;
    KindCluster::with("olm-rs", dir, commands, Progress::new(|_| {})).unwrap()
}

/// Golden: these lines are the contract with kind.
#[tokio::test]
async fn commands_and_configuration_are_those_that_kind_documents() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Arc::new(Recorder::default());
    let cluster = cluster(dir.path(), &recorder);
    cluster.up().await.unwrap();
    cluster.up().await.unwrap();
    cluster.load(Path::new("target/olm-rs-image.tar")).await.unwrap();
    let kubeconfig = cluster.kubeconfig().await.unwrap();
    assert_eq!(fs::read_to_string(&kubeconfig).unwrap(), "kind: Config\n");
    cluster.down().await.unwrap();
    assert!(!kubeconfig.exists());

    let root = dir.path().to_string_lossy().into_owned();
    let lines = recorder.lines.lock().unwrap().join("\n").replace(&root, "DIR");
    let expected = "\
kind get clusters
kind create cluster --name olm-rs --config DIR/olm-rs/config.yaml --kubeconfig DIR/olm-rs/kubeconfig --wait 180s
kind get clusters
kind load image-archive target/olm-rs-image.tar --name olm-rs
kind get kubeconfig --name olm-rs
kind delete cluster --name olm-rs --kubeconfig DIR/olm-rs/kubeconfig";
    assert_eq!(lines, expected);
    let expected = "\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
";
    assert_eq!(*recorder.configuration.lock().unwrap(), expected);
}

#[test]
fn names_that_kind_refuses_are_refused_before_it_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["", "Upper", "a_b", &"x".repeat(51)] {
        let made = KindCluster::with(name, dir.path(), Arc::new(System), Progress::new(|_| {}));
        assert!(made.is_err(), "{name:?}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_and_one_that_fails_are_named() {
    let error = System.run("no-such-program-of-ours", &[]).await.unwrap_err();
    assert!(error.to_string().contains("`no-such-program-of-ours`"), "{error:#}");
    let error = System.run("sh", &["-c", "echo wrong >&2; exit 3"]).await.unwrap_err();
    assert!(error.to_string().ends_with("failed:\nwrong"), "{error:#}");
}
