//! A real control plane on this machine, with a simulated node.
//!
//! etcd, kube-apiserver, kube-controller-manager and kube-scheduler are the real ones. The node
//! is played by kwok: pods become Ready without a container. No root, no container engine; all
//! files lie in one directory and every listener is on a loopback address. Any number of
//! clusters can run side by side, distinguished by name.

mod network;
mod node;
mod outage;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use async_trait::async_trait;

use super::control_plane::{self, ControlPlane, certificates, readiness};
use super::home::{ClusterDir, Kind, Manifest};
use super::managed::Managed;
use super::tools::Tools;
use super::{ClusterBackend, Status, client};
use crate::process::{Lifetime, Running};
use crate::progress::Progress;

/// A named local cluster.
#[derive(Debug)]
pub struct LocalCluster {
    managed: Managed,
}

impl LocalCluster {
    /// A cluster that stays until [`ClusterBackend::down`].
    pub fn kept(name: &str, progress: Progress) -> Result<Self> {
        Ok(Self { managed: Managed::kept(Kind::Local, name, progress)? })
    }

    /// A cluster for one command: it ends with this process, however that ends.
    pub fn for_this_command(purpose: &str, progress: Progress) -> Result<Self> {
        Ok(Self { managed: Managed::for_this_command(Kind::Local, purpose, progress)? })
    }

    /// The name, unique on this machine.
    pub fn name(&self) -> String {
        self.managed.home.name()
    }

    /// The file with every write that the API server was asked for, one JSON object per line.
    pub fn audit_log(&self) -> PathBuf {
        self.managed.audit_log()
    }

    /// A directory for files that should go with the cluster.
    pub fn scratch(&self) -> PathBuf {
        self.managed.scratch()
    }

    /// Starts everything in the order of need.
    async fn start(&self, tools: &Tools, manifest: &mut Manifest) -> Result<Vec<Running>> {
        let (managed, home, slot) = (&self.managed, &self.managed.home, manifest.slot);
        let network = &network::of(slot);
        control_plane::write_configuration(home)?;
        certificates::write(home, slot, network)?;
        let parts = ControlPlane { home, slot, network, tools, lifetime: managed.lifetime };
        let mut children = Vec::new();
        managed.launch(&mut children, manifest, &[parts.etcd(), parts.api_server()])?;
        let client = client(&home.path("kubeconfig")).await?;
        readiness::api_server(&client, &mut children).await?;
        node::create(&client).await?;
        let rest = [parts.controller_manager(), parts.scheduler(), node::kwok(&parts)];
        managed.launch(&mut children, manifest, &rest)?;
        readiness::workloads(&client, node::NODE, &mut children).await?;
        Ok(children)
    }
}

#[async_trait]
impl ClusterBackend for LocalCluster {
    async fn up(&self) -> Result<()> {
        let managed = &self.managed;
        let Some(_lock) = managed.begin()? else { return Ok(()) };
        let progress = managed.progress.clone();
        let tools = tokio::task::spawn_blocking(move || Tools::ensure(&progress))
            .await
            .context("the build of the tools was cancelled")??;
        let since = Instant::now();
        let mut manifest = managed.claim(ClusterDir::clear, |_| true)?;
        let started = self.start(&tools, &mut manifest).await;
        let started = started.inspect_err(|_| manifest.stop_processes());
        managed.complete(
            manifest,
            started,
            since,
            tools.kubernetes(),
            "real API server, simulated node",
        )
    }

    async fn down(&self) -> Result<()> {
        let _lock = self.managed.home.lock_name(&self.managed.progress)?;
        self.managed.check_kind()?;
        self.managed.home.clear()?;
        self.managed.keep_children(Vec::new());
        Ok(())
    }

    async fn status(&self) -> Result<Status> {
        Ok(self.managed.status(|slot| {
            vec![
                format!("API server  {}", slot.api_server()),
                format!("Services    {}", network::of(slot).service_range),
            ]
        }))
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        self.managed.kubeconfig()
    }

    fn simulates_pods(&self) -> bool {
        true
    }

    fn adopt(&self, process: &Running) -> Result<()> {
        self.managed.adopt(process)
    }
}

impl Drop for LocalCluster {
    /// A cluster for one command takes its files with it.
    fn drop(&mut self) {
        if self.managed.lifetime == Lifetime::Command {
            self.managed.keep_children(Vec::new());
            let _ = self.managed.home.clear();
            self.managed.home.forget_name();
        }
    }
}
