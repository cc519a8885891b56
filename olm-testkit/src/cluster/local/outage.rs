//! The API server of a local cluster is away for a while; what it stores is not.

use anyhow::{Context, Result};

use super::{LocalCluster, network};
use crate::cluster::control_plane::ControlPlane;
use crate::cluster::tools::Tools;
use crate::process::Record;

/// How the record names it.
const API_SERVER: &str = "kube-apiserver";

impl LocalCluster {
    /// Kills the API server: connections break, and no server listens.
    ///
    /// # Errors
    ///
    /// When the cluster is not up.
    pub fn kill_api_server(&self) -> Result<()> {
        self.api_server()?.kill();
        Ok(())
    }

    /// Starts it again on the same port.
    ///
    /// # Errors
    ///
    /// When the cluster was never up, or the process cannot start.
    pub fn start_api_server(&self) -> Result<()> {
        let (managed, home) = (&self.managed, &self.managed.home);
        let slot = home.manifest().context("the cluster is not up")?.slot;
        let (network, tools) = (network::of(slot), Tools::expected()?);
        let lifetime = managed.lifetime;
        let parts = ControlPlane { home, slot, network: &network, tools: &tools, lifetime };
        managed.replace(&parts.api_server())
    }

    /// Stops it in the middle of everything: connections stay, and no server answers.
    ///
    /// # Errors
    ///
    /// When the cluster is not up.
    pub fn freeze_api_server(&self) -> Result<()> {
        self.api_server()?.freeze();
        Ok(())
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// When the cluster is not up.
    pub fn thaw_api_server(&self) -> Result<()> {
        self.api_server()?.thaw();
        Ok(())
    }

    fn api_server(&self) -> Result<Record> {
        let manifest = self.managed.home.manifest().context("the cluster is not up")?;
        let found = manifest.processes.into_iter().find(|process| process.name == API_SERVER);
        found.context("the cluster has no API server")
    }
}
