//! `--leader-elect`: a replica that does not lead knows the catalogs all the same, so that it can
//! show their packages and take over at once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::Api;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_testkit::collector::Collector;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::TestContext;
use olm_testkit::operators::{Admin, Binaries, OLM_NAMESPACE, Operator, StartOptions};
use olm_testkit::wait::TIMEOUT;
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// The follower loads a catalog, and the leader stays the leader.
pub async fn knows_catalogs(ctx: Arc<TestContext>) -> Result<()> {
    let leader = leader(&ctx).await?;
    let logs = tempfile::tempdir().context("cannot create a directory")?;
    let binaries = Binaries::beside_this_executable(logs.path())?;
    let args = vec![LEADER_ELECT.to_owned()];
    let collector = Collector::start().await?;
    let env = vec![("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), collector.url())];
    let special = StartOptions { log: "follower".to_owned(), args, env, ..StartOptions::default() };
    let kubeconfig = ctx.kubeconfig().await?;
    let (follower, admin) = binaries.operator(Operator::Catalog, &kubeconfig, special).await?;
    admin.until_ready().await?;
    let csv = csv("lamp.v1.0.0", "1.0.0").deployment("lamp", "default");
    let package = Package::single("lamp", Bundle::new("1.0.0", &csv));
    ctx.catalog("hall", &[package]).await?;
    knows(admin, &format!("{}/hall", ctx.namespace)).await?;
    ensure!(self::leader(&ctx).await? == leader, "the follower leads");
    support_sees_it(admin, leader.as_deref(), &kubeconfig).await?;
    // Also a follower looks after the connections of catalogs, in a span for each.
    collector.until_reported(&["catalog-operator", "reconcile", "catalogsource", "hall"]).await?;
    follower.stop();
    Ok(())
}

/// The state for support says who leads and what is known, and nothing that is secret.
async fn support_sees_it(admin: Admin, leader: Option<&str>, kubeconfig: &Path) -> Result<()> {
    let text = admin.state().await?;
    let state: Value = serde_json::from_str(&text)?;
    let leadership = &state["leadership"];
    ensure!(leadership["holder"].as_str() == leader, "another leads: {leadership}");
    ensure!(leadership["leads"] == false, "the follower leads: {leadership}");
    let synced = &state["watches"]["Subscription"]["synced"];
    ensure!(*synced == true, "Subscriptions are not known: {text}");
    ensure!(state["queues"]["resolution"]["running"] == 0, "a follower works: {text}");
    ensure!(text.len() < 256 * 1024, "{} bytes", text.len());
    let credentials = std::fs::read_to_string(kubeconfig).context("cannot read the kubeconfig")?;
    let data = credentials.lines().filter_map(|line| line.split_once("-data:"));
    for (field, secret) in data {
        ensure!(!text.contains(secret.trim()), "{field} is reported");
    }
    ensure!(!text.contains("PRIVATE KEY") && !text.contains("Bearer"), "a secret is reported");
    let metrics = admin.metrics().await?;
    let line = "leader_election_master_status{name=\"catalog-operator\"} 0";
    ensure!(metrics.contains(line), "the metrics do not say that it waits");
    Ok(())
}

async fn leader(ctx: &TestContext) -> Result<Option<String>> {
    let leases: Api<Lease> = Api::namespaced(ctx.client.clone(), OLM_NAMESPACE);
    let lease = leases.get(Operator::Catalog.name()).await.context("there is no Lease")?;
    Ok(lease.spec.and_then(|spec| spec.holder_identity))
}

/// Waits until the catalog is connected.
async fn knows(admin: Admin, catalog: &str) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let state: Value = serde_json::from_str(&admin.state().await?)?;
        let found = state.pointer("/catalogs").and_then(|catalogs| catalogs.get(catalog));
        if found.is_some_and(|found| found.to_string().contains("READY")) {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("{catalog} is not READY for the follower: {state}");
        }
        sleep(LOOK).await;
    }
}
