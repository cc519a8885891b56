//! The whole of OLM where containers run, as `deploy/` has it: catalogs from Pods, operators whose Pods
//! answer, upgrades, and OLM's own Pods killed in between. It takes a few minutes and is what the image
//! that ships is tried with.

mod console;
mod global;
mod greeter;
mod killed;
mod leftovers;
mod restricted;

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use killed::kill_olm;
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, Subscription,
};

use crate::builders::Package;
use crate::e2e::scenarios::upgrades::Recorded;
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::wait;

const OLD: &str = "greeter.v1.0.0";
const NEW: &str = "greeter.v2.0.0";

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    let needs = [Need::Containers, Need::Workload, Need::OlmPods];
    let runs = scenario(
        "smoke::an_operator_that_runs",
        "a running operator is installed and upgraded while the Pods of OLM are killed",
        an_operator_that_runs,
    );
    [runs.needs(&needs).exclusive(), console()].into_iter().chain(global::all()).collect()
}

/// It looks, as scenarios of global catalogs do, at what is left in OLM's namespace.
fn console() -> Scenario {
    scenario(
        "smoke::console",
        "the console runs in a Pod as docs/console.md says, shows each user over TLS what he may see, refuses wrong \
         tokens and names, logs no token, and leaves nothing behind",
        console::as_documented,
    )
    .needs(&[Need::Containers, Need::Workload, Need::Registry, Need::OlmPods, Need::Kubectl])
    .makes_global_catalogs()
}

/// The operator runs, answers in its new version after the upgrade, and everything is as it would
/// be if nothing had been killed. All of it, OLM included, runs in namespaces with the pod
/// security standard `restricted`.
async fn an_operator_that_runs(ctx: Arc<TestContext>) -> Result<()> {
    ctx.restrict().await?;
    let recorded = Recorded::begin(&ctx).await?;
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &catalog(&ctx, &["1.0.0"])).await?;
    install(&ctx).await?;
    greeter::answers(&ctx, "1.0.0").await?;
    upgrade(&ctx).await?;
    greeter::answers(&ctx, "2.0.0").await?;
    recorded.check_one_at_a_time()?;
    check_end(&ctx).await?;
    restricted::check_olm(&ctx).await
}

/// A Subscription, and three moments on its way at which OLM is killed.
async fn install(ctx: &TestContext) -> Result<()> {
    ctx.subscribe("greeter", "kitchen").await?;
    kill_olm(ctx).await?;
    wait::until(&ctx.api(), "greeter", "have a plan", has_plan).await?;
    kill_olm(ctx).await?;
    wait::until(&ctx.api(), OLD, "exist", |_: &ClusterServiceVersion| true).await?;
    kill_olm(ctx).await?;
    ctx.at_latest("greeter", OLD).await?;
    ctx.succeeded(OLD).await.map(drop)
}

/// A new version in the catalog, and three moments on the way to it at which OLM is killed.
async fn upgrade(ctx: &TestContext) -> Result<()> {
    ctx.publish("kitchen", &catalog(ctx, &["1.0.0", "2.0.0"])).await?;
    kill_olm(ctx).await?;
    wait::until(&ctx.api(), NEW, "exist", |_: &ClusterServiceVersion| true).await?;
    kill_olm(ctx).await?;
    wait::until(&ctx.api(), NEW, "be on its way", is_installing).await?;
    kill_olm(ctx).await?;
    ctx.at_latest("greeter", NEW).await?;
    ctx.succeeded(NEW).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), OLD).await
}

/// The versions of the greeter, each of which replaces the one before.
fn catalog(ctx: &TestContext, versions: &[&str]) -> [Package; 1] {
    let bundles = versions.iter().scan(None::<String>, |before, version| {
        let bundle = greeter::bundle(ctx, version);
        let replaced = before.replace(format!("greeter.v{version}"));
        Some(match replaced {
            Some(old) => bundle.replaces(&old),
            None => bundle,
        })
    });
    [Package::new("greeter").channel("stable", bundles.collect())]
}

fn has_plan(subscription: &Subscription) -> bool {
    subscription.status.as_ref().is_some_and(|status| status.install_plan_ref.is_some())
}

fn is_installing(csv: &ClusterServiceVersion) -> bool {
    let phase = csv.status.as_ref().map(|status| status.phase);
    matches!(phase, Some(CsvPhase::InstallReady | CsvPhase::Installing | CsvPhase::Succeeded))
}

/// One CSV, one Deployment, a plan for each version, and nothing that is not done.
async fn check_end(ctx: &TestContext) -> Result<()> {
    let all = ListParams::default();
    let csvs = ctx.api::<ClusterServiceVersion>().list(&all).await?;
    let names: Vec<String> = csvs.iter().map(ResourceExt::name_any).collect();
    ensure!(names == [NEW], "there are the CSVs {names:?}");
    let deployments = ctx.api::<Deployment>().list(&all).await?;
    let names: Vec<String> = deployments.iter().map(ResourceExt::name_any).collect();
    ensure!(names == ["greeter"], "there are the Deployments {names:?}");
    let mut plans = ctx.api::<InstallPlan>().list(&all).await?.items;
    plans.sort_by_key(|plan| plan.spec.generation);
    let named: Vec<_> = plans
        .iter()
        .map(|plan| {
            let phase = plan.status.as_ref().map(|status| status.phase);
            (plan.spec.cluster_service_version_names.join(" "), phase)
        })
        .collect();
    let complete = Some(InstallPlanPhase::Complete);
    let expected = [(OLD.to_owned(), complete), (NEW.to_owned(), complete)];
    ensure!(named == expected, "there are the InstallPlans {named:?}");
    Ok(())
}
