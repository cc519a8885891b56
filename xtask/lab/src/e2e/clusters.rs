//! Clusters with OLM in them, one way for each backend.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};
use olm_rig::{RealCluster, debian};
use olm_testkit::cluster::ClusterBackend;
use olm_testkit::cluster::current::CurrentCluster;
use olm_testkit::cluster::kind::KindCluster;
use olm_testkit::e2e::figures::Figure;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::e2e::provider::v0::V0;
use olm_testkit::e2e::{Need, Provider, Scenario};
use olm_testkit::fixture::FixturePaths;
use olm_testkit::peer::OlmV0;
use olm_testkit::progress::Progress;

use super::images::{self, Sources};
use super::{Arguments, Cluster, pods};
use xtask::build::programs;

/// The name of clusters that are made for a run.
const NAME: &str = "olm-rs-e2e";

/// A cluster with OLM in it, until [`Running::end`].
pub(super) struct Running {
    pub provider: Arc<dyn Provider>,
    /// What was measured while it started.
    start: Vec<Figure>,
    cluster: RunningCluster,
}

/// What has to end.
enum RunningCluster {
    Local(Arc<Local>),
    V0(Arc<V0>),
    Backend(Box<dyn ClusterBackend>),
    Nothing,
}

/// Gets what this machine needs for the cluster, which for a real node are Debian packages.
pub(super) fn prepare(arguments: &Arguments) -> Result<()> {
    match arguments.cluster {
        Cluster::Real => real_node()?.prepare_machine(),
        _ => Ok(()),
    }
}

/// Installs a browser where a scenario needs one, there is none, and `OLM_INSTALL_PACKAGES=1` allows it. Without
/// one, those scenarios are counted as not run.
pub(super) fn prepare_browser(selected: &[Scenario]) {
    let progress = Progress::to_stderr();
    let mut needs = selected.iter().flat_map(|scenario| &scenario.needs);
    if needs.any(|need| *need == Need::Browser)
        && let Err(error) = debian::install_browser(&progress)
    {
        progress.step(format!("no browser can be installed: {error:#}"));
    }
}

fn real_node() -> Result<RealCluster> {
    ensure!(cfg!(target_os = "linux"), "a real node needs Linux");
    RealCluster::for_this_command("e2e", Progress::to_stderr())
}

/// Starts a cluster, and OLM in it.
pub(super) async fn start(arguments: &Arguments, report: &Path) -> Result<Running> {
    match arguments.cluster {
        Cluster::Local => local(arguments, report).await,
        Cluster::V0 => v0(arguments, report).await,
        Cluster::Real => real(arguments).await,
        Cluster::Kind => kind(arguments).await,
        Cluster::Current => current(arguments).await,
    }
}

impl Running {
    /// What was measured. What cannot be measured is said in its place.
    pub(super) async fn figures(&self) -> Vec<Figure> {
        let memory = match &self.provider.facts().olm_namespace {
            Some(namespace) => pods::memory(&self.provider.client(), namespace).await,
            None => Vec::new(),
        };
        self.start.iter().cloned().chain(memory).collect()
    }

    /// Ends what was started.
    pub(super) async fn end(self) -> Result<()> {
        match self.cluster {
            RunningCluster::Local(local) => local.end().await,
            RunningCluster::V0(v0) => v0.end().await,
            RunningCluster::Backend(cluster) => cluster.down().await,
            RunningCluster::Nothing => Ok(()),
        }
    }
}

async fn local(arguments: &Arguments, report: &Path) -> Result<Running> {
    let given = arguments.image.is_some() || arguments.workload.is_some();
    ensure!(!given, "--image and --workload are of no use on local: no container runs there");
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(false)?,
    };
    let places = FixturePaths::of(&binaries, Some(&report.join("logs")));
    let local = Arc::new(Local::start("e2e", &places, Progress::to_stderr()).await?);
    let provider = Arc::clone(&local) as Arc<dyn Provider>;
    Ok(Running { provider, start: Vec::new(), cluster: RunningCluster::Local(local) })
}

/// The programs of v0 are built from their Go module when they are missing.
async fn v0(arguments: &Arguments, report: &Path) -> Result<Running> {
    let operators = tokio::task::spawn_blocking(|| OlmV0::ensure(&Progress::to_stderr())).await??;
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(false)?,
    };
    let places = FixturePaths::of(&binaries, Some(&report.join("logs")));
    let v0 = Arc::new(V0::start(&operators, &places, Progress::to_stderr()).await?);
    let provider = Arc::clone(&v0) as Arc<dyn Provider>;
    Ok(Running { provider, start: Vec::new(), cluster: RunningCluster::V0(v0) })
}

async fn real(arguments: &Arguments) -> Result<Running> {
    let cluster = real_node()?;
    let sources = Sources::gather(arguments).await?;
    cluster.up().await?;
    let audit_log = Some(cluster.audit_log());
    let prepared = async {
        let images = sources.push(&cluster.registry()?).await?;
        let deployed = pods::deploy(&cluster, &images, audit_log).await?;
        let provider = deployed.provider.with_registry(cluster.registry()?);
        let provider = provider.with_kubeconfig(cluster.kubeconfig().await?);
        Ok(pods::Deployed { provider, ..deployed })
    };
    or_end(prepared.await, Box::new(cluster)).await
}

async fn kind(arguments: &Arguments) -> Result<Running> {
    let cluster = KindCluster::new(NAME, Progress::to_stderr())?;
    cluster.up().await?;
    let prepared = async {
        let images = Sources::gather(arguments).await?.load(&cluster).await?;
        pods::deploy(&cluster, &images, None).await
    };
    or_end(prepared.await, Box::new(cluster)).await
}

async fn current(arguments: &Arguments) -> Result<Running> {
    let cluster = CurrentCluster;
    cluster.up().await?;
    let provider =
        pods::find(&cluster, &arguments.olm_namespace, || images::named(arguments)).await?;
    Ok(Running {
        provider: Arc::new(provider),
        start: Vec::new(),
        cluster: RunningCluster::Nothing,
    })
}

/// A cluster in which OLM does not start is of no use.
async fn or_end(
    prepared: Result<pods::Deployed>,
    cluster: Box<dyn ClusterBackend>,
) -> Result<Running> {
    match prepared {
        Ok(pods::Deployed { provider, start }) => Ok(Running {
            provider: Arc::new(provider),
            start,
            cluster: RunningCluster::Backend(cluster),
        }),
        Err(error) => {
            if let Err(left) = cluster.down().await {
                eprintln!("the cluster did not end: {left:#}");
            }
            Err(error)
        }
    }
}
