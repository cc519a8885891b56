//! What all scenarios share: a cluster and the operators.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use olm_testkit::cluster::tools::kubectl;
use olm_testkit::e2e::provider::local::{Flags, Local};
use olm_testkit::e2e::{Provider, TestContext, healthy};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::progress::Progress;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use crate::{conflicts, readiness, used_permissions};

/// Clusters that most scenarios share: of each that has passed nothing stays that others pay for.
const SHARED_BY_MOST: [&str; 2] = ["scenarios", "strict"];

/// Starts when first used, and ends with the last scenario that shares it.
pub struct Environment {
    runtime: Runtime,
    purpose: &'static str,
    /// More flags of the operators.
    flags: Flags<'static>,
    /// One failure to start is the failure of every scenario.
    started: OnceCell<Result<Arc<Local>, String>>,
}

impl Environment {
    /// Nothing is started yet. The cluster is named after its purpose.
    pub fn new(purpose: &'static str) -> Result<Self> {
        let runtime = Runtime::new().context("cannot start the async runtime")?;
        Ok(Self { runtime, purpose, flags: Flags::default(), started: OnceCell::new() })
    }

    /// The same with more flags of the operators.
    #[must_use]
    pub fn with(mut self, flags: Flags<'static>) -> Self {
        self.flags = flags;
        self
    }

    /// Does something with the cluster.
    pub fn run<F, S>(&self, what: S) -> Result<()>
    where
        F: Future<Output = Result<()>>,
        S: FnOnce(Arc<dyn Provider>) -> F,
    {
        self.runtime.block_on(async { what(self.started().await?).await })
    }

    /// Runs a scenario that is none of the library in a namespace of its own. It ends at rest.
    pub fn run_own<F, S>(&self, name: &str, scenario: S) -> Result<()>
    where
        F: Future<Output = Result<()>>,
        S: FnOnce(Arc<TestContext>) -> F,
    {
        self.run(|provider| async move {
            let ctx = TestContext::new(Arc::clone(&provider), name).await?;
            let result = scenario(Arc::clone(&ctx)).await;
            // A dead operator explains a failure better than what was waited for.
            match result {
                Err(error) => return Err(provider.check().err().unwrap_or(error)),
                Ok(()) => provider.check().and(ctx.until_idle().await)?,
            }
            healthy::check(&ctx, name).await?;
            match SHARED_BY_MOST.contains(&self.purpose) {
                true => ctx.leave().await,
                false => ctx.conclude_all_plans().await,
            }
        })
    }

    /// The same, for one that does something with the processes of the cluster.
    pub fn run_local<F, S>(&self, name: &str, scenario: S) -> Result<()>
    where
        F: Future<Output = Result<()>>,
        S: FnOnce(Arc<Local>, Arc<TestContext>) -> F,
    {
        let local = self.runtime.block_on(self.started())?;
        self.run_own(name, |ctx| scenario(local, ctx))
    }

    async fn started(&self) -> Result<Arc<Local>> {
        let start = || async {
            let progress = Progress::to_stderr();
            // Built before anything is timed.
            prepare_kubectl(progress.clone()).await.map_err(|error| format!("{error:#}"))?;
            let started =
                Local::start_with(self.purpose, &places(self.purpose), self.flags, progress).await;
            started.map(Arc::new).map_err(|error| format!("{error:#}"))
        };
        let started = self.started.get_or_init(start).await;
        started.clone().map_err(|error| anyhow!("nothing to run on: {error}"))
    }
}

impl Drop for Environment {
    /// Ends operators and cluster: idle ones would take from what the others need.
    fn drop(&mut self) {
        if let Some(Ok(started)) = self.started.get()
            && let Err(error) = self.runtime.block_on(end_of(self.purpose, started))
        {
            eprintln!("the cluster did not end: {error:#}");
        }
    }
}

/// Builds kubectl when it is missing.
async fn prepare_kubectl(progress: Progress) -> Result<()> {
    tokio::task::spawn_blocking(move || kubectl(&progress)).await??;
    Ok(())
}

/// A cluster, which is named after its purpose, and both operators.
pub async fn start(purpose: &str) -> Result<Local> {
    start_with(purpose, Flags::default()).await
}

/// The same with more flags of the operators.
pub async fn start_with(purpose: &str, flags: Flags<'_>) -> Result<Local> {
    Local::start_with(purpose, &places(purpose), flags, Progress::to_stderr()).await
}

/// Ends operators and cluster, and notes what rights the operators used, and what they met of their own.
pub async fn end(started: &Fixture) -> Result<()> {
    end_of("its own cluster", started).await
}

async fn end_of(purpose: &str, started: &Fixture) -> Result<()> {
    started.end_operators();
    let log = started.cluster().audit_log();
    let noted = used_permissions::note(&log).and(conflicts::note(purpose, &log));
    let noted = noted.and(readiness::note(&log));
    started.end().await.and(noted)
}

/// A cluster without operators, for a scenario that starts them itself.
pub async fn cluster(purpose: &str) -> Result<Fixture> {
    Fixture::start(purpose, &places(purpose), Progress::to_stderr()).await
}

/// Logs of a run stay after it in a folder of `OLM_SCENARIO_LOGS`, when that is set.
fn places(purpose: &str) -> FixturePaths {
    let logs = std::env::var_os("OLM_SCENARIO_LOGS").map(PathBuf::from);
    let own = format!("{purpose}-{}", std::process::id());
    FixturePaths { binaries: None, logs: logs.map(|logs| logs.join(own)) }
}
