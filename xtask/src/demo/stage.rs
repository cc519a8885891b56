//! What the demo needs around it: a cluster, the operators, a served catalog.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use kube::Client;
use olm_testkit::cluster::{self, ClusterBackend, current::CurrentCluster, local::LocalCluster};
use olm_testkit::crds;
use olm_testkit::operators::Binaries;
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use tempfile::TempDir;

use super::Arguments;
use super::closing;
use super::timeline::Timeline;
use crate::cluster::Backend;
use crate::{demo_catalog, workspace};

/// The name of the local cluster, for `cargo xtask cluster --name`.
pub(super) const CLUSTER: &str = "demo";

/// The cluster with everything that runs for the demo.
pub(super) struct Stage {
    pub client: Client,
    pub cluster: Played,
    pub kubeconfig: PathBuf,
    /// Where the catalog is served.
    pub address: String,
    /// Both operators and the registry.
    pub processes: Vec<Running>,
    files: TempDir,
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
}

/// Builds the binaries and says where they are.
pub(crate) fn build(release: bool) -> Result<PathBuf> {
    let mut args = vec!["build", "--quiet", "--workspace", "--all-features"];
    args.extend(release.then_some("--release"));
    workspace::cargo_run(&args)?;
    let profile = if release { "release" } else { "debug" };
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or_else(|| workspace::root().join("target")).join(profile))
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
        let definitions = crds::apply_crds(&client).await?;
        crds::apply_base(&client).await?;
        timeline.event("deploy", format!("{} kinds of OLM are served", definitions.len()));
        let files = tempfile::tempdir().context("cannot create a directory")?;
        let mut stage = Self {
            client,
            cluster,
            kubeconfig,
            address: String::new(),
            processes: Vec::new(),
            files,
        };
        stage.start(timeline, arguments, binaries)?;
        Ok(stage)
    }

    fn start(&mut self, timeline: &Timeline, arguments: &Arguments, dir: &Path) -> Result<()> {
        let (catalog, logs) = self.folders(arguments.keep)?;
        demo_catalog::write(&catalog)?;
        let mut binaries = Binaries::in_dir(dir, &logs);
        if arguments.keep {
            binaries = binaries.kept();
        }
        let (registry, address) = binaries.registry("demo", &catalog)?;
        let olm = binaries.olm_operator(&self.kubeconfig)?;
        let catalogs = binaries.catalog_operator(&self.kubeconfig)?;
        self.address = address;
        self.processes.extend([olm, catalogs, registry]);
        if let Played::Local(cluster) = &self.cluster {
            self.processes.iter().try_for_each(|process| cluster.adopt(process))?;
        }
        timeline.event("operators", "olm-operator, catalog-operator and olm-registry run");
        Ok(())
    }

    /// Where catalog and logs go: with `--keep` to the cluster's files, which stay.
    fn folders(&self, keep: bool) -> Result<(PathBuf, PathBuf)> {
        let root = match &self.cluster {
            Played::Local(cluster) if keep => cluster.scratch(),
            _ => self.files.path().to_owned(),
        };
        let catalog = root.join("demo-catalog");
        std::fs::create_dir_all(&catalog).context("cannot create a folder for the catalog")?;
        Ok((catalog, root))
    }

    /// Fails when one of the processes has ended.
    pub(super) fn check(&mut self) -> Result<()> {
        self.processes.iter_mut().try_for_each(Running::check)
    }

    /// Ends everything, or says how to go on.
    pub(super) async fn leave(mut self, timeline: &Timeline, keep: bool) -> Result<()> {
        if keep {
            closing::how_to_go_on(timeline, &self);
            return Ok(());
        }
        timeline.chapter("Cleaning up");
        closing::remove_objects(&self.client, self.cluster.backend()).await?;
        self.processes.drain(..).for_each(Running::stop);
        self.cluster.backend().down().await?;
        timeline.event("cluster", "everything that was started has ended");
        Ok(())
    }
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
