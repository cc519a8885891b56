//! A local cluster with both operators, for commands that play stories with catalogs on it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::audit::AuditLog;
use olm_testkit::cluster::{self, ClusterBackend, local::LocalCluster};
use olm_testkit::deploy::{self, Options, With};
use olm_testkit::operators::{Binaries, OLM_NAMESPACE, Operator};
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::{builders, wait};
use olm_types::api::CatalogSource;

/// So long without a write is the end of them.
const QUIET: Duration = Duration::from_secs(3);

/// A cluster with everything that runs.
pub(crate) struct Stage {
    pub(crate) client: Client,
    cluster: LocalCluster,
    binaries: Binaries,
    processes: Vec<Running>,
}

impl Stage {
    /// Starts cluster and operators; `name` is that of the command. Logs go into a folder, which is
    /// made where there is none; without one, they go with the cluster.
    pub(crate) async fn set(
        name: &str,
        progress: Progress,
        binaries: &Path,
        logs: Option<&Path>,
    ) -> Result<Self> {
        if let Some(folder) = logs {
            let made = std::fs::create_dir_all(folder);
            made.with_context(|| format!("cannot make {} for logs", folder.display()))?;
        }
        let cluster = LocalCluster::for_this_command(name, progress)?;
        cluster.up().await?;
        let kubeconfig = cluster.kubeconfig().await?;
        let client = cluster::client(&kubeconfig).await?;
        deploy::apply(&client, &Options::default(), With::Definitions).await?;
        let logs = logs.map_or_else(|| cluster.scratch(), Path::to_owned);
        let binaries = Binaries::in_dir(binaries, &logs);
        let olm = binaries.olm_operator(&kubeconfig).await?;
        let processes = vec![olm, binaries.catalog_operator(&kubeconfig).await?];
        Ok(Self { client, cluster, binaries, processes })
    }

    /// Serves a catalog and adds it.
    pub(crate) async fn serve(&mut self, name: &str, catalog: &Path) -> Result<()> {
        let catalog = std::path::absolute(catalog).context("cannot resolve the path")?;
        let (registry, address) = self.binaries.registry(name, &catalog)?;
        self.processes.push(registry);
        self.add_catalog(name, &address).await
    }

    /// Adds a catalog that is served already, and waits until it is READY.
    pub(crate) async fn add_catalog(&self, name: &str, address: &str) -> Result<()> {
        let catalogs: Api<CatalogSource> = Api::namespaced(self.client.clone(), OLM_NAMESPACE);
        let source = builders::catalog_source(OLM_NAMESPACE, name, address);
        catalogs.create(&PostParams::default(), &source).await.context("cannot add the catalog")?;
        wait::until_connected(&catalogs, name).await.map(drop)
    }

    /// Waits until the operators have written what they write once in an empty cluster.
    pub(crate) async fn until_quiet(&self) -> Result<()> {
        let mut audit = AuditLog::new(self.cluster.audit_log());
        audit.until_quiet(&Operator::NAMES, QUIET, wait::PATIENCE).await?;
        Ok(())
    }

    /// Fails when one of the processes has ended.
    pub(crate) fn check(&mut self) -> Result<()> {
        self.processes.iter_mut().try_for_each(Running::check)
    }

    /// Ends everything.
    pub(crate) async fn strike(self) -> Result<()> {
        self.processes.into_iter().for_each(Running::stop);
        self.cluster.down().await
    }
}
