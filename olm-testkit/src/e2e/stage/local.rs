//! A control plane on this machine with a simulated node; operators and registries are processes.

mod operators;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use async_trait::async_trait;
use kube::Client;

use super::{Facts, ServedCatalog, Stage};
use crate::builders::CatalogDir;
use crate::cluster::{self, ClusterBackend, local::LocalCluster};
use crate::deploy::{self, Options, With};
use crate::faults::{Injector, Proxy};
use crate::operators::{Admin, Binaries, Operator};
use crate::process::Running;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::stand_in::{Server, StandIn};

/// Why no container runs.
const SIMULATED: &str = "the node of this cluster is simulated, no container runs on it";

/// How much of a log is evidence, in bytes.
const ENOUGH: usize = 2 << 20;

/// What is true of every such cluster, before it is there, too.
pub fn facts() -> Facts {
    Facts { no_containers: Some(SIMULATED), kubectl: true, ..Facts::default() }
}

/// Where things of a run are.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The binaries; beside the running executable when this is none.
    pub binaries: Option<PathBuf>,
    /// The logs, which stay after the run; with the cluster's own files when this is none.
    pub logs: Option<PathBuf>,
}

/// A cluster with operators. It ends with [`Local::end`], and with this process in any case.
pub struct Local {
    cluster: LocalCluster,
    operators: Mutex<Vec<(Operator, Running, Admin)>>,
    client: Client,
    binaries: Binaries,
    facts: Facts,
    /// More flags of both operators, and of the catalog operator alone.
    flags: [Vec<String>; 2],
    /// What the operators take for the API server, when that is something in between.
    proxy: Option<Proxy>,
}

/// What operators are given beside where they find what they need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags<'a> {
    /// Both of them.
    pub both: &'a [&'a str],
    /// The catalog operator.
    pub catalog: &'a [&'a str],
    /// They reach the API server through something that makes requests fail on request.
    pub faults: bool,
}

impl Local {
    /// Starts a cluster, which is named after its purpose, and both operators.
    pub async fn start(purpose: &str, places: &Places, progress: Progress) -> Result<Self> {
        Self::start_with(purpose, places, Flags::default(), progress).await
    }

    /// The same with more flags.
    pub async fn start_with(
        purpose: &str,
        places: &Places,
        given: Flags<'_>,
        progress: Progress,
    ) -> Result<Self> {
        let cluster = LocalCluster::for_this_command(purpose, progress)?;
        cluster.up().await?;
        let (client, binaries) = prepare(&cluster, places).await?;
        let facts = Facts { audit_log: Some(cluster.audit_log()), ..facts() };
        let owned = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
        let flags = [owned(given.both), owned(given.catalog)];
        let proxy = match given.faults {
            true => Some(proxy(&cluster).await?),
            false => None,
        };
        let operators = Mutex::default();
        let started = Self { cluster, operators, client, binaries, facts, flags, proxy };
        started.start_operators("").await?;
        Ok(started)
    }

    /// What stands between the operators and the API server.
    pub fn proxy(&self) -> Result<&Proxy> {
        self.proxy.as_ref().context("nothing is between operators and API server")
    }

    /// The cluster.
    pub fn cluster(&self) -> &LocalCluster {
        &self.cluster
    }

    /// Ends operators and cluster.
    pub async fn end(&self) -> Result<()> {
        self.end_operators();
        self.cluster.down().await
    }

    /// The log of the API server.
    pub fn audit_log(&self) -> PathBuf {
        self.cluster.audit_log()
    }
}

#[async_trait]
impl Stage for Local {
    fn client(&self) -> Client {
        self.client.clone()
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    async fn serve(
        &self,
        namespace: &str,
        name: &str,
        content: CatalogDir,
    ) -> Result<Box<dyn ServedCatalog>> {
        let unique = format!("{namespace}-{name}");
        Ok(Box::new(Registry::start(&self.binaries, &unique, content)?))
    }

    async fn stand_in(&self, server: &Server) -> Result<Option<StandIn>> {
        StandIn::start(&self.client, &self.binaries, server).await.map(Some)
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        self.cluster.kubeconfig().await
    }

    fn check(&self) -> Result<()> {
        match self.operators.lock() {
            Ok(mut operators) => {
                operators.iter_mut().try_for_each(|(_, running, _)| running.check())
            }
            Err(_) => Ok(()),
        }
    }

    async fn logs(&self) -> Vec<(String, String)> {
        let Ok(operators) = self.operators.lock() else { return Vec::new() };
        let logs = operators.iter().map(|(_, running, _)| {
            let name = running.record().name.clone();
            (name, end_of(running.log()).unwrap_or_else(|error| format!("{error:#}")))
        });
        logs.collect()
    }

    /// Registries are processes.
    fn beside(&self, _namespace: &str) -> Vec<String> {
        Vec::new()
    }

    /// Registries end with their scene.
    async fn clear(&self, _namespace: &str) -> Result<()> {
        Ok(())
    }
}

/// Applies `deploy/` and finds the binaries.
pub async fn prepare(cluster: &LocalCluster, places: &Places) -> Result<(Client, Binaries)> {
    let client = cluster::client(&cluster.kubeconfig().await?).await?;
    deploy::apply(&client, &Options::default(), With::Definitions).await?;
    let logs = logs(cluster, places)?;
    let binaries = match &places.binaries {
        Some(dir) => Binaries::in_dir(dir, &logs),
        None => Binaries::beside_this_executable(&logs)?,
    };
    Ok((client, binaries))
}

async fn proxy(cluster: &LocalCluster) -> Result<Proxy> {
    Proxy::start(&cluster.kubeconfig().await?, Injector::from_environment()).await
}

fn logs(cluster: &LocalCluster, places: &Places) -> Result<PathBuf> {
    let Some(kept) = &places.logs else { return Ok(cluster.scratch()) };
    let dir = kept.join(cluster.name());
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}

fn end_of(log: &Path) -> Result<String> {
    let bytes = std::fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let start = bytes.len().saturating_sub(ENOUGH);
    Ok(String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned())
}
