//! Servers of test operators where no container runs.
//!
//! The API server calls webhooks and aggregated APIs through their Services, whose addresses are
//! those of this machine. A process that listens there takes the place of the Pods; a task beside
//! it takes the place of the kubelet and keeps the certificate in its files as the Secret has it.

use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::{Context, Result};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::Client;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::operators::Binaries;
use crate::process::Running;
use crate::wait;

/// Where pods find their certificate.
const MOUNT: &str = "/tmp/k8s-webhook-server/serving-certs";

/// A Deployment that the API server calls.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub deployment: String,
    /// Port of its Service and of its container.
    pub port: u16,
    /// `VERSION/GROUP/PLURAL/KIND` of the API that it serves.
    pub api: String,
}

impl Server {
    /// The command line of its container.
    pub fn container(&self) -> Vec<String> {
        self.arguments(Path::new(MOUNT))
    }

    fn arguments(&self, files: &Path) -> Vec<String> {
        let file = |name: &str| files.join(name).to_string_lossy().into_owned();
        let flags = [
            ("--port", self.port.to_string()),
            ("--certificate", file("tls.crt")),
            ("--key", file("tls.key")),
            ("--api", self.api.clone()),
        ];
        let flags = flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
        ["answer".to_owned()].into_iter().chain(flags).collect()
    }
}

/// What answers in place of a Deployment's Pods, until dropped.
#[derive(Debug)]
pub struct StandIn {
    running: Running,
    kubelet: JoinHandle<()>,
    _files: TempDir,
}

impl StandIn {
    /// Waits for the Service and answers at its address, from the moment at which the Secret is
    /// there.
    pub async fn start(client: &Client, binaries: &Binaries, server: &Server) -> Result<Self> {
        let service = format!("{}-service", server.deployment);
        let services: Api<Service> = Api::namespaced(client.clone(), &server.namespace);
        let found = wait::until(&services, &service, "have an address", |service: &Service| {
            address(service).is_some()
        })
        .await?;
        let address = address(&found).context("the Service lost its address")?;
        let files = tempfile::tempdir().context("cannot create a folder for certificates")?;
        let mut arguments = server.arguments(files.path());
        arguments.extend(["--address".to_owned(), address.to_string()]);
        let log = format!("{}-{}", server.namespace, server.deployment);
        let running = binaries.workload(&log, arguments)?;
        let secrets = Api::namespaced(client.clone(), &server.namespace);
        let kubelet = keep(secrets, format!("{service}-cert"), files.path().to_owned());
        Ok(Self { running, kubelet: tokio::spawn(kubelet), _files: files })
    }

    /// Fails, with the end of its log, when it has ended.
    pub fn check(&mut self) -> Result<()> {
        self.running.check()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.kubelet.abort();
        self.running.kill();
    }
}

fn address(service: &Service) -> Option<Ipv4Addr> {
    service.spec.as_ref()?.cluster_ip.as_ref()?.parse().ok()
}

/// Writes each version of the Secret at once, which a kubelet would take a while for.
async fn keep(secrets: Api<Secret>, name: String, files: std::path::PathBuf) {
    let only = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let versions = watcher(secrets, only).default_backoff().applied_objects();
    let mut versions = std::pin::pin!(versions);
    while let Some(version) = versions.next().await {
        // A watch that fails starts again by itself.
        let Ok(secret) = version else { continue };
        let data = secret.data.unwrap_or_default();
        for (key, content) in data.iter().filter(|(key, _)| key.starts_with("tls.")) {
            let partial = files.join(format!("{key}.partial"));
            if std::fs::write(&partial, &content.0).is_ok() {
                // A reader never sees half a file.
                let _ = std::fs::rename(&partial, files.join(key));
            }
        }
    }
}
