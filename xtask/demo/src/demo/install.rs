//! From a catalog to running operators.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::{builders, fixture, wait};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, Step, StepStatus,
};
use tokio::time::Instant;

use super::explain;
use super::phases;
use super::setup::Setup;
use super::subscription;
use super::timeline::Timeline;
use super::workloads;

/// The catalog of the demo: in OLM's own namespace, so every namespace sees it.
pub(super) const CATALOG: &str = "demo-catalog";

/// Where the operators are installed.
pub(super) const NAMESPACE: &str = "demo";

/// What is asked for.
pub(super) const PACKAGE: &str = "guestbook";
const CHANNEL: &str = "stable";

/// What is asked for, and what it needs.
const ASKED: &str = "guestbook.v1.0.0";
const NEEDED: &str = "kvstore.v1.0.0";

/// Adds the catalog and waits until it is connected.
pub(super) async fn catalog(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter("A catalog");
    let catalogs: Api<CatalogSource> = Api::namespaced(setup.client.clone(), OLM_NAMESPACE);
    let address = setup.fixture.address()?;
    let source = builders::catalog_source(OLM_NAMESPACE, CATALOG, &address);
    catalogs.create(&PostParams::default(), &source).await.context("cannot add the catalog")?;
    timeline.event("CatalogSource", format!("{CATALOG} created, served at {address}"));
    wait::until_connected(&catalogs, CATALOG).await?;
    timeline.event("CatalogSource", format!("{CATALOG} is READY"));
    Ok(())
}

/// Subscribes, and follows what happens until both operators run.
pub(super) async fn operators(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter(&format!("A Subscription to {PACKAGE}, channel {CHANNEL}"));
    let client = &setup.client;
    fixture::namespace(client, NAMESPACE).await?;
    timeline.event("OperatorGroup", format!("namespace {NAMESPACE} is ready for operators"));
    let follower = phases::follow(*timeline, client, NAMESPACE).await?;
    let started = Instant::now();
    subscription::subscribe(client, NAMESPACE, CHANNEL).await?;
    timeline.event("Subscription", format!("{PACKAGE} created"));
    let plan = subscription::plan(client, ASKED, "have steps", |plan| !steps(plan).is_empty());
    let plan = plan.await?;
    explain::resolution(timeline, client, NAMESPACE, &plan).await?;
    for csv in [NEEDED, ASKED] {
        succeeded(client, csv).await?;
    }
    let seconds = started.elapsed().as_secs_f32();
    let plan = complete(client, &plan.name_any()).await?;
    follower.until_succeeded(&[NEEDED, ASKED]).await?;
    timeline.event("done", format!("{seconds:.1} s from Subscription to Succeeded"));
    print_steps(timeline, &plan)?;
    workloads::show(timeline, client, NAMESPACE).await?;
    if setup.fixture.cluster().simulates_pods() {
        timeline.detail("Pods are simulated here (kwok): no container was started. API server,");
        timeline.detail("controllers, scheduler and both operators are the real ones.");
    }
    Ok(())
}

/// Waits until a version runs.
pub(super) async fn succeeded(client: &Client, name: &str) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), NAMESPACE);
    let done = |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    };
    wait::until(&csvs, name, "be Succeeded", done).await.map(drop)
}

async fn complete(client: &Client, name: &str) -> Result<InstallPlan> {
    let plans: Api<InstallPlan> = Api::namespaced(client.clone(), NAMESPACE);
    wait::until(&plans, name, "be Complete", |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| status.phase == InstallPlanPhase::Complete)
    })
    .await
}

/// Prints how many objects of each kind a plan made, and fails when one is missing.
fn print_steps(timeline: &Timeline, plan: &InstallPlan) -> Result<()> {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for step in steps(plan) {
        let resource = &step.resource;
        let done = matches!(step.status, StepStatus::Created | StepStatus::Present);
        ensure!(done, "step {} {} is {}", resource.kind, resource.name, step.status);
        *kinds.entry(&resource.kind).or_default() += 1;
    }
    let count = steps(plan).len();
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let name = plan.name_any();
    timeline
        .event("InstallPlan", format!("{name} is Complete, {count} steps: {}", kinds.join(", ")));
    Ok(())
}

fn steps(plan: &InstallPlan) -> &[Step] {
    plan.status.as_ref().map_or(&[][..], |status| &status.plan)
}
