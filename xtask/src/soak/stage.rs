//! A cluster with both operators and the catalog, for the whole run.

use std::path::Path;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::cluster::{self, ClusterBackend, local::LocalCluster};
use olm_testkit::deploy::{self, Options, With};
use olm_testkit::operators::{Binaries, OLM_NAMESPACE};
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::{builders, wait};
use olm_types::api::CatalogSource;

/// The name of the catalog.
pub(super) const CATALOG: &str = "soak";

/// A cluster with everything that runs.
pub(super) struct Stage {
    pub client: Client,
    cluster: LocalCluster,
    processes: Vec<Running>,
}

impl Stage {
    /// Starts everything; the catalog is READY.
    pub(super) async fn set(binaries: &Path, catalog: &Path, logs: Option<&Path>) -> Result<Self> {
        let cluster = LocalCluster::for_this_command("soak", Progress::to_stderr())?;
        cluster.up().await?;
        let kubeconfig = cluster.kubeconfig().await?;
        let client = cluster::client(&kubeconfig).await?;
        deploy::apply(&client, &Options::default(), With::Definitions).await?;
        let logs = logs.map_or_else(|| cluster.scratch(), Path::to_owned);
        let binaries = Binaries::in_dir(binaries, &logs);
        let catalog = std::path::absolute(catalog).context("cannot resolve the path")?;
        let (registry, address) = binaries.registry(CATALOG, &catalog)?;
        let operators =
            [binaries.olm_operator(&kubeconfig)?, binaries.catalog_operator(&kubeconfig)?];
        let processes = operators.into_iter().chain([registry]).collect();
        let stage = Self { client, cluster, processes };
        stage.add_catalog(&address).await?;
        Ok(stage)
    }

    async fn add_catalog(&self, address: &str) -> Result<()> {
        let catalogs: Api<CatalogSource> = Api::namespaced(self.client.clone(), OLM_NAMESPACE);
        let source = builders::catalog_source(OLM_NAMESPACE, CATALOG, address);
        catalogs.create(&PostParams::default(), &source).await.context("cannot add the catalog")?;
        wait::until(&catalogs, CATALOG, "be READY", |catalog: &CatalogSource| {
            let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
            state.is_some_and(|state| state.last_observed_state == "READY")
        })
        .await
        .map(drop)
    }

    /// Fails when one of the processes has ended.
    pub(super) fn check(&mut self) -> Result<()> {
        self.processes.iter_mut().try_for_each(Running::check)
    }

    /// Ends everything.
    pub(super) async fn strike(self) -> Result<()> {
        self.processes.into_iter().for_each(Running::stop);
        self.cluster.down().await
    }
}
