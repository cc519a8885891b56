//! A cluster of kind (Kubernetes in Docker) on a machine with Docker and kind.
//!
//! Kept thin: creating, loading images, and deleting are kind's own commands; everything else is
//! as on any other cluster. The user's kubeconfig and its current context stay as they are.

mod command;
mod config;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use async_trait::async_trait;

use super::{ClusterBackend, Status, client, tools};
use crate::progress::Progress;

pub use command::{Commands, System};

/// How long the nodes may take to become ready, in the words of kind.
const READY: &str = "180s";

/// What to do where kind does not run.
const REMEDY: &str = "this cluster needs the programs `kind` and `docker` and a running Docker \
                      engine (see kind.sigs.k8s.io); `--cluster local` needs neither";

/// A cluster with a name. The stock node image of the installed kind decides which Kubernetes it
/// is.
pub struct KindCluster {
    name: String,
    dir: PathBuf,
    commands: Arc<dyn Commands>,
    progress: Progress,
}

impl KindCluster {
    /// A cluster that is made by the programs of this machine. Nothing is started yet.
    ///
    /// # Errors
    ///
    /// When kind would refuse the name, or no folder for its files is known.
    pub fn new(name: &str, progress: Progress) -> Result<Self> {
        let dir = tools::cache_dir()?.join("kind");
        Self::with(name, &dir, Arc::new(System::default()), progress)
    }

    /// The same with a folder for files, and with whoever runs commands.
    pub fn with(
        name: &str,
        dir: &Path,
        commands: Arc<dyn Commands>,
        progress: Progress,
    ) -> Result<Self> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        ensure!(
            !name.is_empty() && name.len() <= 50 && name.chars().all(plain),
            "the cluster name {name:?} is not usable: small letters, digits and dashes, at most 50"
        );
        Ok(Self { name: name.to_owned(), dir: dir.join(name), commands, progress })
    }

    /// Makes an image known to the nodes. The archive is what `cargo xtask image` writes.
    ///
    /// # Errors
    ///
    /// When kind refuses the archive or there is no such cluster.
    pub async fn load(&self, archive: &Path) -> Result<()> {
        let archive = archive.to_string_lossy();
        self.progress.step(format!("loading {archive}"));
        self.kind(&["load", "image-archive", &archive, "--name", &self.name]).await.map(drop)
    }

    async fn exists(&self) -> Result<bool> {
        let clusters = self.kind(&["get", "clusters"]).await.context(REMEDY)?;
        Ok(clusters.lines().any(|line| line.trim() == self.name))
    }

    async fn kind(&self, args: &[&str]) -> Result<String> {
        self.commands.run("kind", args).await
    }

    /// Writes a file of the cluster.
    fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.dir.join(name);
        std::fs::create_dir_all(&self.dir)
            .and_then(|()| std::fs::write(&path, content))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

#[async_trait]
impl ClusterBackend for KindCluster {
    async fn up(&self) -> Result<()> {
        if self.exists().await? {
            self.progress.step(format!("the cluster {} of kind is up already", self.name));
            return Ok(());
        }
        let config = self.write("config.yaml", config::CLUSTER)?;
        let kubeconfig = self.dir.join("kubeconfig");
        let (config, kubeconfig) = (config.to_string_lossy(), kubeconfig.to_string_lossy());
        self.progress.step("creating a cluster of kind, which takes a minute or two");
        let args = ["create", "cluster", "--name", &self.name, "--config", &config];
        let rest = ["--kubeconfig", &kubeconfig, "--wait", READY];
        self.kind(&[&args[..], &rest].concat()).await.map(drop)
    }

    async fn down(&self) -> Result<()> {
        let kubeconfig = self.dir.join("kubeconfig");
        let kubeconfig = kubeconfig.to_string_lossy();
        let args = ["delete", "cluster", "--name", &self.name, "--kubeconfig", &kubeconfig];
        self.kind(&args).await?;
        match self.dir.is_dir() {
            true => std::fs::remove_dir_all(&self.dir).context("cannot remove the cluster's files"),
            false => Ok(()),
        }
    }

    async fn status(&self) -> Result<Status> {
        if !self.exists().await? {
            return Ok(Status { up: false, details: Vec::new() });
        }
        let client = client(&self.kubeconfig().await?).await?;
        Ok(match client.apiserver_version().await {
            Ok(version) => {
                Status { up: true, details: vec![format!("Kubernetes {}", version.git_version)] }
            }
            Err(error) => Status { up: false, details: vec![error.to_string()] },
        })
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        let text = self.kind(&["get", "kubeconfig", "--name", &self.name]).await?;
        self.write("kubeconfig", &text)
    }

    fn simulates_pods(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
