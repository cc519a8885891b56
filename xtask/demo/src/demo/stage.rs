//! What the demo needs around it: a cluster, the operators, a served catalog.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use kube::Client;
use olm_testkit::builders::CatalogDir;
use olm_testkit::cluster::{self, ClusterBackend, current::CurrentCluster, local::LocalCluster};
use olm_testkit::deploy::{self, Options, With};
use olm_testkit::operators::Binaries;
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::registry::Registry;
use tempfile::TempDir;

use super::Arguments;
use super::closing;
use super::timeline::Timeline;
use crate::cluster::Backend;
use crate::demo_catalog::{self, Edition};

/// The name of the local cluster, for `cargo xtask cluster --name`.
pub(super) const CLUSTER: &str = "demo";

/// The cluster with everything that runs for the demo.
pub(super) struct Stage {
    pub client: Client,
    pub cluster: Played,
    pub kubeconfig: PathBuf,
    /// Serves the catalog.
    pub registry: Registry,
    /// Both operators.
    pub operators: Vec<Running>,
    /// Where catalogs and logs are.
    root: PathBuf,
    /// Removed at the end.
    _files: TempDir,
}

/// Which cluster is used.
pub(super) enum Played {
    Local(LocalCluster),
    Current(CurrentCluster),
}

impl Played {
    /// What all clusters have in common.
    pub(super) fn backend(&self) -> &dyn ClusterBackend {
        match self {
            Self::Local(cluster) => cluster,
            Self::Current(cluster) => cluster,
        }
    }

    /// Lets a process end with the cluster, when that ends at all.
    fn adopt(&self, process: &Running) -> Result<()> {
        match self {
            Self::Local(cluster) => cluster.adopt(process),
            Self::Current(_) => Ok(()),
        }
    }
}

impl Stage {
    /// Starts everything.
    pub(super) async fn set(
        timeline: &Timeline,
        arguments: &Arguments,
        binaries: &Path,
    ) -> Result<Self> {
        timeline.chapter("Starting Kubernetes and the operators");
        let cluster = choose(timeline, arguments)?;
        // What an earlier `--keep` left would be in the way.
        cluster.backend().down().await?;
        cluster.backend().up().await?;
        let kubeconfig = cluster.backend().kubeconfig().await?;
        let client = cluster::client(&kubeconfig).await?;
        deploy::apply(&client, &Options::default(), With::Definitions).await?;
        let kinds = deploy::definitions()?.len();
        timeline.event("deploy", format!("{kinds} kinds of OLM are served"));
        let files = tempfile::tempdir().context("cannot create a directory")?;
        let root = match &cluster {
            // What stays must not lie in a temporary folder.
            Played::Local(cluster) if arguments.keep => cluster.scratch(),
            _ => files.path().to_owned(),
        };
        let binaries = Binaries::in_dir(binaries, &root);
        let binaries = if arguments.keep { binaries.kept() } else { binaries };
        let mut registry = Registry::start(&binaries, "demo", catalog(&root, Edition::First)?)?;
        let olm = binaries.olm_operator(&kubeconfig).await?;
        let operators = vec![olm, binaries.catalog_operator(&kubeconfig).await?];
        registry.server().into_iter().try_for_each(|server| cluster.adopt(server))?;
        operators.iter().try_for_each(|operator| cluster.adopt(operator))?;
        timeline.event("operators", "olm-operator, catalog-operator and olm-registry run");
        Ok(Self { client, cluster, kubeconfig, registry, operators, root, _files: files })
    }

    /// Serves another edition of the catalog at the same address.
    pub(super) fn publish(&mut self, edition: Edition) -> Result<()> {
        self.registry.publish(catalog(&self.root, edition)?)?;
        self.registry.server().into_iter().try_for_each(|server| self.cluster.adopt(server))
    }

    /// Fails when one of the processes has ended.
    pub(super) fn check(&mut self) -> Result<()> {
        let registry = self.registry.server().into_iter();
        self.operators.iter_mut().chain(registry).try_for_each(Running::check)
    }

    /// Ends everything, or says how to go on.
    pub(super) async fn leave(mut self, timeline: &Timeline, keep: bool) -> Result<()> {
        if keep {
            closing::how_to_go_on(timeline, &self);
            return Ok(());
        }
        timeline.chapter("Cleaning up");
        closing::remove_objects(&self.client, self.cluster.backend()).await?;
        self.operators.drain(..).for_each(Running::stop);
        self.registry.die();
        self.cluster.backend().down().await?;
        timeline.event("cluster", "everything that was started has ended");
        Ok(())
    }
}

/// An edition of the catalog, in a folder of its own.
fn catalog(root: &Path, edition: Edition) -> Result<CatalogDir> {
    let folder = root.join(format!("demo-catalog-{}", edition.name()));
    demo_catalog::write(edition, &folder)?;
    Ok(CatalogDir::existing(folder))
}

fn choose(timeline: &Timeline, arguments: &Arguments) -> Result<Played> {
    let clock = *timeline;
    let progress = Progress::new(move |line| clock.event("cluster", line));
    match arguments.cluster {
        Backend::Current => {
            ensure!(!arguments.keep, "--keep needs the local cluster: its files hold the catalog");
            Ok(Played::Current(CurrentCluster))
        }
        Backend::Local if arguments.keep => {
            Ok(Played::Local(LocalCluster::kept(CLUSTER, progress)?))
        }
        Backend::Local => Ok(Played::Local(LocalCluster::for_this_command(CLUSTER, progress)?)),
    }
}
