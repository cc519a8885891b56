//! The one way in which tests and commands bring up what they work on.
//!
//! A [`Fixture`] is a cluster with OLM's definitions. Both operators and the server of a catalog are
//! processes beside it, which start on request and end with it. What one command needs beyond that
//! (flags, another log, a server in between) it asks of [`Fixture::start_operator`].

mod content;
mod processes;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use kube::Client;

pub use content::{namespace, subscribe};
pub use processes::Started;

use crate::audit::AuditLog;
use crate::cluster::{self, ClusterBackend, local::LocalCluster};
use crate::deploy::{self, Options, With};
use crate::operators::Binaries;
use crate::progress::Progress;
use crate::registry::Registry;

/// Where things of a run are.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The binaries; beside the running executable when this is none.
    pub binaries: Option<PathBuf>,
    /// The folder of logs, which stays after the run and is made where there is none; with the
    /// cluster's own files when this is none.
    pub logs: Option<PathBuf>,
}

impl Places {
    /// Binaries in a folder; logs in another one, where it is given.
    pub fn of(binaries: &Path, logs: Option<&Path>) -> Self {
        Self { binaries: Some(binaries.to_owned()), logs: logs.map(Path::to_owned) }
    }

    fn binaries(&self, cluster: &LocalCluster) -> Result<Binaries> {
        if let Some(logs) = &self.logs {
            std::fs::create_dir_all(logs)
                .with_context(|| format!("cannot make {} for logs", logs.display()))?;
        }
        let logs = self.logs.clone().unwrap_or_else(|| cluster.scratch());
        match &self.binaries {
            Some(dir) => Ok(Binaries::in_dir(dir, &logs)),
            None => Binaries::beside_this_executable(&logs),
        }
    }
}

/// A cluster and what runs beside it, until [`Fixture::end`]; processes and clusters of one command end
/// with this value, too.
pub struct Fixture<C: ClusterBackend + ?Sized = LocalCluster> {
    /// Asks the API server with the rights of an administrator.
    pub client: Client,
    /// The same rights, as a file.
    pub kubeconfig: PathBuf,
    /// What can be started.
    pub binaries: Binaries,
    // What uses the cluster is dropped before it.
    operators: Mutex<Vec<Started>>,
    registry: Mutex<Option<Registry>>,
    cluster: Box<C>,
}

impl Fixture {
    /// A cluster with a simulated node for this command, named after its purpose, and OLM's definitions.
    ///
    /// # Errors
    ///
    /// The cluster does not start, or refuses an object of `deploy/`.
    pub async fn start(purpose: &str, places: &Places, progress: Progress) -> Result<Self> {
        let fixture = Self::empty(purpose, places, progress).await?;
        fixture.define().await?;
        Ok(fixture)
    }

    /// The same without anything of OLM.
    ///
    /// # Errors
    ///
    /// The cluster does not start.
    pub async fn empty(purpose: &str, places: &Places, progress: Progress) -> Result<Self> {
        let cluster = LocalCluster::for_this_command(purpose, progress)?;
        let binaries = places.binaries(&cluster)?;
        Self::on(Box::new(cluster), binaries).await
    }

    /// The log of the API server, from its beginning.
    pub fn audit(&self) -> AuditLog {
        AuditLog::new(self.cluster.audit_log())
    }
}

impl<C: ClusterBackend + ?Sized> Fixture<C> {
    /// Brings up a cluster of the caller's choice, without anything of OLM.
    ///
    /// # Errors
    ///
    /// The cluster does not start.
    pub async fn on(cluster: Box<C>, binaries: Binaries) -> Result<Self> {
        cluster.up().await?;
        let kubeconfig = cluster.kubeconfig().await?;
        let client = cluster::client(&kubeconfig).await?;
        let (operators, registry) = (Mutex::default(), Mutex::default());
        Ok(Self { client, kubeconfig, binaries, operators, registry, cluster })
    }

    /// Applies what operators beside the cluster need of `deploy/`.
    ///
    /// # Errors
    ///
    /// The API server refuses an object, or a kind is not served in time.
    pub async fn define(&self) -> Result<()> {
        deploy::apply(&self.client, &Options::default(), With::Definitions).await
    }

    /// The cluster.
    pub fn cluster(&self) -> &C {
        &self.cluster
    }

    /// Ends everything.
    ///
    /// # Errors
    ///
    /// The cluster does not end.
    pub async fn end(&self) -> Result<()> {
        self.end_operators();
        self.registry().take();
        self.cluster.down().await
    }
}
