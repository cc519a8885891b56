//! Clusters for tests and developer commands.
//!
//! A backend brings a cluster up, takes it down and says where its kubeconfig is. [`local`]
//! starts a real control plane on this machine, and `olm-rig` a node that runs containers with it, of
//! [`control_plane`] and [`managed`]; [`kind`] asks kind for one; [`current`] uses what
//! the kubeconfig points at.

pub mod control_plane;
pub mod current;
pub mod home;
pub mod kind;
pub mod local;
pub mod managed;
pub mod slot;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use async_trait::async_trait;
use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::process::Running;

pub use home::Kind;
/// The programs of clusters.
pub use olm_tools as tools;

/// Every cluster on this machine by name: which backend it belongs to, and whether it is up.
pub fn list() -> Result<Vec<(String, Kind, bool)>> {
    managed::list()
}

/// Something that can be a Kubernetes cluster.
#[async_trait]
pub trait ClusterBackend: Send + Sync {
    /// Makes the cluster usable; nothing happens when it already is.
    async fn up(&self) -> Result<()>;

    /// Ends everything that `up` started; nothing happens when there is nothing.
    async fn down(&self) -> Result<()>;

    /// What runs.
    async fn status(&self) -> Result<Status>;

    /// The file that clients need.
    async fn kubeconfig(&self) -> Result<PathBuf>;

    /// Whether pods only seem to run on this backend.
    fn simulates_pods(&self) -> bool;

    /// Lets `down` end a process that is of no use without the cluster, where `down` ends anything.
    fn adopt(&self, _process: &Running) -> Result<()> {
        Ok(())
    }
}

/// What a backend knows of its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Whether an API server answers.
    pub up: bool,
    /// One line each: parts, addresses, versions.
    pub details: Vec<String>,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.up { "up" } else { "down" })?;
        self.details.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// A client for the cluster of a kubeconfig.
pub async fn client(kubeconfig: &Path) -> Result<kube::Client> {
    kube::Client::try_from(config(kubeconfig).await?).context("cannot make a Kubernetes client")
}

/// The same, as another user.
pub async fn client_as(kubeconfig: &Path, user: &str) -> Result<kube::Client> {
    let mut config = config(kubeconfig).await?;
    config.auth_info.impersonate = Some(user.to_owned());
    kube::Client::try_from(config).context("cannot make a Kubernetes client")
}

async fn config(kubeconfig: &Path) -> Result<kube::Config> {
    let text = Kubeconfig::read_from(kubeconfig)
        .with_context(|| format!("cannot read {}", kubeconfig.display()))?;
    kube::Config::from_custom_kubeconfig(text, &KubeConfigOptions::default())
        .await
        .with_context(|| format!("cannot use {}", kubeconfig.display()))
}
