//! The cluster that the kubeconfig's current context names. It is never started or stopped here.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use async_trait::async_trait;

use super::{ClusterBackend, Status, client};

/// The cluster of the current context.
#[derive(Clone, Copy, Debug, Default)]
pub struct CurrentCluster;

#[async_trait]
impl ClusterBackend for CurrentCluster {
    async fn up(&self) -> Result<()> {
        self.server_version().await.map(drop)
    }

    async fn down(&self) -> Result<()> {
        Ok(())
    }

    async fn status(&self) -> Result<Status> {
        Ok(match self.server_version().await {
            Ok(version) => Status { up: true, details: vec![version] },
            Err(error) => Status { up: false, details: vec![format!("{error:#}")] },
        })
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        let listed = std::env::var_os("KUBECONFIG").unwrap_or_default();
        let first = std::env::split_paths(&listed).find(|path| path.is_file());
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".kube/config"));
        match first.or_else(home) {
            Some(path) if path.is_file() => Ok(path),
            _ => bail!("there is no kubeconfig: set KUBECONFIG or write ~/.kube/config"),
        }
    }

    fn simulates_pods(&self) -> bool {
        false
    }
}

impl CurrentCluster {
    async fn server_version(&self) -> Result<String> {
        let client = client(&self.kubeconfig().await?).await?;
        let version = client
            .apiserver_version()
            .await
            .context("the API server of the current context does not answer")?;
        Ok(format!("Kubernetes {}", version.git_version))
    }
}
