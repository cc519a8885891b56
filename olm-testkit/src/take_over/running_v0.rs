//! OLM v0 at work.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};
use kube::api::Api;
use olm_types::api::{ClusterServiceVersion, CsvPhase};

use tempfile::TempDir;

use super::{Files, PACKAGE_SERVER, PackageServer, ServiceProxy, TakeOverCluster};
use crate::fixture::Fixture;
use crate::operators::OLM_NAMESPACE;
use crate::peer::{OlmV0, start_olm_v0};
use crate::process::Running;
use crate::wait;

/// What v0 needs beside its operators, as long as they work: the way to Services, its package server and the
/// files that were applied.
pub struct BesideV0 {
    proxy: ServiceProxy,
    package_server: PackageServer,
    _files: TempDir,
}

impl BesideV0 {
    /// Where the way to Services listens.
    pub fn proxy_url(&self) -> String {
        self.proxy.url()
    }

    /// Has v0 reach a Service of OLM's namespace at this address ([`ServiceProxy::route`]).
    pub fn route(&self, service: &str, address: SocketAddr) {
        self.proxy.route(service, OLM_NAMESPACE, address);
    }

    /// Fails, with the end of its log, when the package server has ended.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&mut self) -> Result<()> {
        self.package_server.check()
    }

    /// The process of the package server.
    pub fn package_server(&self) -> &Running {
        self.package_server.running()
    }
}

/// v0 in a cluster without anything of OLM: its definitions, and its operators at work. Without a folder for
/// logs they are with the cluster's own files.
///
/// # Errors
/// The API server refuses a definition, or as [`start_v0`].
pub async fn set_up_v0(
    v0: &OlmV0,
    fixture: &Fixture,
    logs: Option<&Path>,
) -> Result<(Vec<Running>, BesideV0)> {
    let logs = logs.map_or_else(|| fixture.cluster().scratch(), Path::to_owned);
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    let files = Files::write(folder.path())?;
    files.of_v0(&v0.definitions()?)?;
    let cluster = TakeOverCluster::of(fixture, files)?;
    cluster.files.apply_v0(&cluster.kubectl)?;
    let proxy = ServiceProxy::start(cluster.client.clone()).await?;
    let (operators, package_server) = start_v0(v0, &cluster, &logs, ("", &proxy)).await?;
    Ok((operators, BesideV0 { proxy, package_server, _files: folder }))
}

/// v0's operators and its package server at work. Their logs have this end in their names.
///
/// # Errors
/// One of them does not start, or the package server does not succeed.
pub async fn start_v0(
    v0: &OlmV0,
    cluster: &TakeOverCluster,
    logs: &Path,
    (end, proxy): (&str, &ServiceProxy),
) -> Result<(Vec<Running>, PackageServer)> {
    let operators = start_olm_v0(v0, &cluster.kubeconfig, logs, end, &proxy.url())?;
    let package_server = PackageServer::start(v0, cluster, logs, (end, proxy)).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(cluster.client.clone(), OLM_NAMESPACE);
    wait::until(&csvs, PACKAGE_SERVER, "succeed", |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    })
    .await?;
    Ok((operators, package_server))
}
