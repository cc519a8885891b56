//! Servers of test operators where no container runs.
//!
//! The API server calls webhooks and aggregated APIs through their Services, whose addresses are
//! those of this machine. A process that listens there takes the place of the Pods, with its
//! certificate as the Secret has it.

use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Service;
use kube::Client;
use kube::api::Api;

use crate::mounted_certificate::{CERTIFICATE, MountedCertificate, PRIVATE_KEY};
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
            ("--certificate", file(CERTIFICATE)),
            ("--key", file(PRIVATE_KEY)),
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
    _certificate: MountedCertificate,
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
        let secret = format!("{service}-cert");
        let certificate = MountedCertificate::of(client, &server.namespace, &secret)?;
        let mut arguments = server.arguments(certificate.folder());
        arguments.extend(["--address".to_owned(), address.to_string()]);
        let log = format!("{}-{}", server.namespace, server.deployment);
        let running = binaries.workload(&log, arguments)?;
        Ok(Self { running, _certificate: certificate })
    }

    /// Fails, with the end of its log, when it has ended.
    pub fn check(&mut self) -> Result<()> {
        self.running.check()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.running.kill();
    }
}

fn address(service: &Service) -> Option<Ipv4Addr> {
    service.spec.as_ref()?.cluster_ip.as_ref()?.parse().ok()
}
