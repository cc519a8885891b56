//! From a catalog to running operators.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{Api, ListParams, PostParams};
use kube::{Client, ResourceExt};
use olm_testkit::builders;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, OperatorGroup,
    StepStatus, Subscription,
};
use tokio::time::Instant;

use super::explain;
use super::phases;
use super::stage::Stage;
use super::timeline::Timeline;

/// The catalog of the demo: in OLM's own namespace, so every namespace sees it.
pub(super) const CATALOG: &str = "demo-catalog";

/// Where the operators are installed.
pub(super) const NAMESPACE: &str = "demo";

/// What is asked for.
pub(super) const PACKAGE: &str = "guestbook";
const CHANNEL: &str = "stable";

/// What should be installed in the end; the last one is what was asked for.
const EXPECTED: [&str; 2] = ["kvstore.v1.0.0", "guestbook.v1.1.0"];

/// Adds the catalog and waits until it is connected.
pub(super) async fn catalog(timeline: &Timeline, stage: &Stage) -> Result<()> {
    timeline.chapter("A catalog");
    let catalogs: Api<CatalogSource> = Api::namespaced(stage.client.clone(), OLM_NAMESPACE);
    let source = builders::catalog_source(OLM_NAMESPACE, CATALOG, &stage.address);
    catalogs.create(&PostParams::default(), &source).await.context("cannot add the catalog")?;
    timeline.event("CatalogSource", format!("{CATALOG} created, served at {}", stage.address));
    wait::until(&catalogs, CATALOG, "be READY", |catalog: &CatalogSource| {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        state.is_some_and(|state| state.last_observed_state == "READY")
    })
    .await?;
    timeline.event("CatalogSource", format!("{CATALOG} is READY"));
    Ok(())
}

/// Subscribes, and follows what happens until both operators run.
pub(super) async fn operators(timeline: &Timeline, stage: &Stage) -> Result<()> {
    timeline.chapter(&format!("A Subscription to {PACKAGE}, channel {CHANNEL}"));
    let client = &stage.client;
    prepare_namespace(client, NAMESPACE).await?;
    timeline.event("OperatorGroup", format!("namespace {NAMESPACE} is ready for operators"));
    let follower = phases::follow(*timeline, client.clone(), NAMESPACE);
    let started = Instant::now();
    subscribe(client, NAMESPACE, CHANNEL).await?;
    timeline.event("Subscription", format!("{PACKAGE} created"));
    let plan = resolved(client).await?;
    explain::resolution(timeline, client, NAMESPACE, &plan).await?;
    for csv in EXPECTED {
        succeeded(client, csv).await?;
    }
    let seconds = started.elapsed().as_secs_f32();
    let plan = complete(client, &plan.name_any()).await?;
    follower.finish(&EXPECTED).await?;
    timeline.event("done", format!("{seconds:.1} s from Subscription to Succeeded"));
    print_steps(timeline, &plan)?;
    print_workloads(timeline, stage).await
}

/// Makes a namespace in which operators watch that namespace.
pub(super) async fn prepare_namespace(client: &Client, name: &str) -> Result<()> {
    let once = PostParams::default();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = builders::namespace(name);
    namespaces.create(&once, &namespace).await.context("cannot create a namespace")?;
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), name);
    let group = builders::operator_group(name, "group", &[name]);
    groups.create(&once, &group).await.context("cannot create an OperatorGroup")?;
    Ok(())
}

/// Asks for the package of the demo.
pub(super) async fn subscribe(client: &Client, namespace: &str, channel: &str) -> Result<()> {
    let wishes: Api<Subscription> = Api::namespaced(client.clone(), namespace);
    let mut wish = builders::subscription(namespace, PACKAGE, channel, CATALOG);
    wish.spec.source_namespace = OLM_NAMESPACE.to_owned();
    wishes.create(&PostParams::default(), &wish).await.context("cannot subscribe")?;
    Ok(())
}

/// Waits for the InstallPlan that the Subscription points at.
async fn resolved(client: &Client) -> Result<InstallPlan> {
    let wishes: Api<Subscription> = Api::namespaced(client.clone(), NAMESPACE);
    let plan = |wish: &Subscription| wish.status.as_ref()?.install_plan_ref.as_ref()?.name.clone();
    let wish = wait::until(&wishes, PACKAGE, "be resolved", |wish| plan(wish).is_some()).await?;
    let plans: Api<InstallPlan> = Api::namespaced(client.clone(), NAMESPACE);
    let name = plan(&wish).context("the Subscription points at no InstallPlan")?;
    wait::until(&plans, &name, "have steps", |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| !status.plan.is_empty())
    })
    .await
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

fn print_steps(timeline: &Timeline, plan: &InstallPlan) -> Result<()> {
    let steps = plan.status.as_ref().map_or(&[][..], |status| &status.plan);
    timeline
        .event("InstallPlan", format!("{} is Complete, {} steps:", plan.name_any(), steps.len()));
    for step in steps {
        let resource = &step.resource;
        let done = matches!(step.status, StepStatus::Created | StepStatus::Present);
        ensure!(done, "step {} {} is {}", resource.kind, resource.name, step.status);
        timeline.detail(format!(
            "{:<8} {:<26} {}",
            step.status.to_string(),
            resource.kind,
            resource.name
        ));
    }
    Ok(())
}

async fn print_workloads(timeline: &Timeline, stage: &Stage) -> Result<()> {
    timeline.chapter("What runs now");
    let everything = ListParams::default();
    let deployments: Api<Deployment> = Api::namespaced(stage.client.clone(), NAMESPACE);
    let list = deployments.list(&everything).await.context("cannot list Deployments")?;
    ensure!(!list.items.is_empty(), "no Deployment runs");
    for deployment in &list {
        let status = deployment.status.clone().unwrap_or_default();
        let (ready, wanted) = (status.ready_replicas.unwrap_or(0), status.replicas.unwrap_or(0));
        ensure!(ready == wanted && ready > 0, "{} is not ready", deployment.name_any());
        timeline.event("Deployment", format!("{} {ready}/{wanted} ready", deployment.name_any()));
    }
    let pods: Api<Pod> = Api::namespaced(stage.client.clone(), NAMESPACE);
    for pod in &pods.list(&everything).await.context("cannot list Pods")? {
        let phase = pod.status.as_ref().and_then(|status| status.phase.clone());
        timeline.event("Pod", format!("{} {}", pod.name_any(), phase.unwrap_or_default()));
    }
    if stage.cluster.backend().simulates_pods() {
        timeline.detail("Pods are simulated here (kwok): no container was started. API server,");
        timeline.detail("controllers, scheduler and both operators are the real ones.");
    }
    Ok(())
}
