//! What all scenarios share: a cluster and the operators.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow};
use kube::Client;
use olm_testkit::cluster::{self, ClusterBackend, local::LocalCluster};
use olm_testkit::crds;
use olm_testkit::operators::{Binaries, Operator, Special};
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use crate::scene::Scene;

/// Starts when first used, and ends when told to.
pub struct Environment {
    runtime: Runtime,
    /// One failure to start is the failure of every scenario.
    started: OnceCell<Result<Started, String>>,
}

/// A cluster with operators.
pub struct Started {
    cluster: LocalCluster,
    operators: Mutex<Vec<Running>>,
    pub client: Client,
    pub binaries: Binaries,
}

impl Environment {
    /// Nothing is started yet.
    pub fn new() -> Result<Self> {
        let runtime = Runtime::new().context("cannot start the async runtime")?;
        Ok(Self { runtime, started: OnceCell::new() })
    }

    /// Runs a scenario in a namespace of its own. It ends at rest.
    pub fn run<F, S>(&self, name: &str, scenario: S) -> Result<()>
    where
        F: Future<Output = Result<()>>,
        S: FnOnce(Arc<Scene>) -> F,
    {
        self.runtime.block_on(async {
            let started = self.started().await?;
            let scene = Scene::new(started, name).await?;
            let result = scenario(Arc::clone(&scene)).await;
            // A dead operator explains a failure better than what was waited for.
            match result {
                Err(error) => Err(started.check().err().unwrap_or(error)),
                Ok(()) => started.check().and(scene.at_rest().await),
            }
        })
    }

    async fn started(&self) -> Result<&Started> {
        let start =
            || async { Started::new("scenarios").await.map_err(|error| format!("{error:#}")) };
        let started = self.started.get_or_init(start).await;
        started.as_ref().map_err(|error| anyhow!("nothing to run on: {error}"))
    }

    /// Ends operators and cluster.
    pub fn end(&self) {
        if let Some(Ok(started)) = self.started.get()
            && let Err(error) = self.runtime.block_on(started.end())
        {
            eprintln!("the cluster did not end: {error:#}");
        }
    }
}

impl Started {
    /// Starts a cluster, which is named after its purpose, and both operators.
    pub async fn new(purpose: &str) -> Result<Self> {
        let cluster = LocalCluster::for_this_command(purpose, Progress::to_stderr())?;
        cluster.up().await?;
        let (client, binaries) = prepare(&cluster).await?;
        let started = Self { cluster, operators: Mutex::default(), client, binaries };
        started.start_operators("").await?;
        Ok(started)
    }

    /// Ends both operators as a crash would and starts them again.
    pub async fn restart_operators(&self) -> Result<()> {
        if let Ok(mut operators) = self.operators.lock() {
            operators.drain(..).for_each(|mut operator| operator.kill());
        }
        self.start_operators("-again").await
    }

    /// Starts both and waits until they are ready; their logs have names with this end.
    async fn start_operators(&self, end: &str) -> Result<()> {
        let kubeconfig = self.cluster.kubeconfig().await?;
        let mut admins = Vec::new();
        for operator in Operator::ALL {
            let special = Special { log: format!("{operator}{end}"), ..Special::default() };
            let (running, admin) = self.binaries.operator(operator, &kubeconfig, special)?;
            admins.push(admin);
            if let Ok(mut operators) = self.operators.lock() {
                operators.push(running);
            }
        }
        for admin in admins {
            let ready = admin.until_ready().await;
            self.check().and(ready)?;
        }
        Ok(())
    }

    /// The log of the API server.
    pub fn audit_log(&self) -> PathBuf {
        self.cluster.audit_log()
    }

    /// Fails when an operator has ended.
    pub fn check(&self) -> Result<()> {
        match self.operators.lock() {
            Ok(mut operators) => operators.iter_mut().try_for_each(Running::check),
            Err(_) => Ok(()),
        }
    }

    /// Ends operators and cluster.
    pub async fn end(&self) -> Result<()> {
        if let Ok(mut operators) = self.operators.lock() {
            operators.drain(..).for_each(Running::stop);
        }
        self.cluster.down().await
    }
}

/// Applies `deploy/` and finds the binaries.
pub async fn prepare(cluster: &LocalCluster) -> Result<(Client, Binaries)> {
    let client = cluster::client(&cluster.kubeconfig().await?).await?;
    crds::apply_crds(&client).await?;
    crds::apply_base(&client).await?;
    Ok((client, Binaries::beside_this_executable(&logs(cluster)?)?))
}

/// Logs of a run stay after it in `OLM_SCENARIO_LOGS`, when that is set.
fn logs(cluster: &LocalCluster) -> Result<PathBuf> {
    let Some(kept) = std::env::var_os("OLM_SCENARIO_LOGS").map(PathBuf::from) else {
        return Ok(cluster.scratch());
    };
    let dir = kept.join(cluster.name());
    std::fs::create_dir_all(&dir).context("cannot create OLM_SCENARIO_LOGS")?;
    Ok(dir)
}
