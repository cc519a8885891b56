//! v0's package server, which serves the packages API.
//!
//! It is a process in the place of the Pods that the CSV `packageserver` asks for: at the address of their
//! Service, with their certificate.

use std::path::Path;

use anyhow::Result;

use super::{ServiceProxy, TakeOverCluster};
use crate::mounted_certificate::{self, MountedCertificate};
use crate::operators::OLM_NAMESPACE;
use crate::packages;
use crate::peer::OlmV0;
use crate::process::{Launch, Lifetime, Running};

/// It serves until dropped.
#[derive(Debug)]
pub struct PackageServer {
    running: Running,
    _certificate: MountedCertificate,
}

impl PackageServer {
    /// Waits until v0's operators have made its Service and certificate, and until it lists packages. Its log
    /// has this end in its name. It reaches catalogs through the proxy.
    ///
    /// # Errors
    /// The Service or the certificate does not come, the program does not start, or it lists nothing in time.
    pub async fn start(
        v0: &OlmV0,
        cluster: &TakeOverCluster,
        logs: &Path,
        (end, proxy): (&str, &ServiceProxy),
    ) -> Result<Self> {
        let client = &cluster.client;
        // v0 makes the Secret after the Service.
        let mounted = MountedCertificate::once_there(client, OLM_NAMESPACE, packages::CERTIFICATE);
        let certificate = mounted.await?;
        let launch = Launch {
            name: format!("v0's {}", OlmV0::PACKAGE_SERVER),
            program: v0.program(OlmV0::PACKAGE_SERVER),
            args: arguments(cluster, certificate.folder()).await?,
            env: vec![("GRPC_PROXY".to_owned(), proxy.url())],
            log: logs.join(format!("v0-{}{end}.log", OlmV0::PACKAGE_SERVER)),
            lifetime: Lifetime::Command,
        };
        let mut running = launch.start()?;
        let answers = answers(cluster).await;
        running.check().and(answers)?;
        Ok(Self { running, _certificate: certificate })
    }

    /// Fails, with the end of its log, when it has ended.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&mut self) -> Result<()> {
        self.running.check()
    }

    /// The process.
    pub fn running(&self) -> &Running {
        &self.running
    }
}

/// What a Pod has from its account stands in the kubeconfig: who callers are, and what they may do, is asked
/// with it, too.
async fn arguments(cluster: &TakeOverCluster, certificate: &Path) -> Result<Vec<String>> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (address, kubeconfig) =
        (packages::address(&cluster.client).await?, text(&cluster.kubeconfig));
    let flags = [
        ("--kubeconfig", kubeconfig.clone()),
        ("--authentication-kubeconfig", kubeconfig.clone()),
        ("--authorization-kubeconfig", kubeconfig),
        ("--bind-address", address.ip().to_string()),
        ("--secure-port", address.port().to_string()),
        ("--tls-cert-file", text(&certificate.join(mounted_certificate::CERTIFICATE))),
        ("--tls-private-key-file", text(&certificate.join(mounted_certificate::PRIVATE_KEY))),
        ("--global-namespace", OLM_NAMESPACE.to_owned()),
    ];
    Ok(flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect())
}

async fn answers(cluster: &TakeOverCluster) -> Result<()> {
    packages::until_available(&cluster.client).await?;
    packages::until_listed(&cluster.client).await
}
