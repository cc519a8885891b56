//! A cluster that OLM v0 managed, taken over as docs/take-over.md says.
//!
//! Its objects are those that v0 itself left in a cluster; `cargo xtask take-over --record` wrote
//! them down, and `cargo xtask take-over` plays the same with v0 at work, and the way back.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use olm_testkit::audit::AuditLog;
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::operators::Operator;
use olm_testkit::progress::Progress;
use olm_testkit::take_over::{Files, Ours, State, TakeOverCluster, needless, recording, serve};
use olm_testkit::wait::TIMEOUT;

use crate::readiness;

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(3);

/// No Pod of an operator restarts, nothing is written that has not to do with the package server, and
/// what is left is what v0 left.
pub async fn from_v0(_: Arc<TestContext>) -> Result<()> {
    let silent = Progress::new(|_| {});
    let fixture = Fixture::empty("take-over", &FixturePaths::default(), silent).await?;
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    let cluster = TakeOverCluster::of(&fixture, Files::write(folder.path())?)?;
    let result = take_over(&cluster, fixture.audit().apart_from("leases")).await;
    let noted = readiness::note(&fixture.cluster().audit_log());
    fixture.end().await.and(result).and(noted)
}

async fn take_over(cluster: &TakeOverCluster, mut audit: AuditLog) -> Result<()> {
    let registry = serve(&cluster.binaries)?;
    cluster.files.apply_definitions(&cluster.kubectl)?;
    recording::restore(&cluster.client, recording::recorded()?, &registry.address()).await?;
    let running = ["wait", "deployment", "--all", "-A", "--for=condition=Available"];
    cluster.kubectl.run(&[&running[..], &["--timeout=90s"]].concat())?;
    let before = State::now(&cluster.client).await?;
    ensure!(before.pods.count() >= 5, "there are {} Pods of operators", before.pods.count());

    let mut ours = Ours::take_over(cluster).await?;
    ours.retire_package_server(cluster).await?;
    let programs = Operator::NAMES;
    let writes = audit.until_idle(&programs, QUIET, TIMEOUT).await?;
    let after = State::now(&cluster.client).await?;
    ours.stop();

    let restarted = after.pods.restarted_since(&before.pods);
    ensure!(restarted.is_empty(), "restarted:\n{}", restarted.join("\n"));
    let needless = needless(&writes);
    ensure!(needless.is_empty(), "written without need:\n{}", needless.join("\n"));
    let changes = after.changes(&before)?;
    ensure!(changes.unexplained.is_empty(), "not what v0 left:\n{changes}");
    Ok(())
}
