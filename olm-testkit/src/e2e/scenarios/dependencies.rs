//! Operators that depend on each other are never left in a set that does not work (the examples of
//! OpenShift's page on dependencies, "Example dependency resolution scenarios").

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::Api;
use olm_types::api::{ClusterServiceVersion, InstallPlan, Subscription};

use super::install::operator;
use crate::builders::{Bundle, Crd, Package};
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "dependencies::deprecating_dependent_apis",
            "a new version that drops an API waits while another operator requires the API",
            deprecating_dependent_apis,
        ),
        scenario(
            "dependencies::a_removed_version",
            "a new version that drops a version of a kind waits while that version is required",
            a_removed_version,
        ),
        scenario(
            "dependencies::version_deadlock",
            "two operators whose new versions need each other are upgraded at once",
            version_deadlock,
        ),
    ]
}

/// First example: B's provider updates to provide C and drops B, which A's
/// provider depends on.
async fn deprecating_dependent_apis(ctx: Arc<TestContext>) -> Result<()> {
    let [a, b, c] = ["Apple", "Bowl", "Cellar"].map(|kind| ctx.kind(kind));
    let apple = provider("apple", "1.0.0", &a, &[&b]);
    let bowl = provider("bowl", "1.0.0", &b, &[]);
    let cellar = provider("bowl", "2.0.0", &c, &[]).replaces("bowl.v1.0.0");
    installed(&ctx, &[apple.clone(), bowl.clone()], &["apple", "bowl"]).await?;
    ctx.publish("kitchen", &[one("apple", &[apple]), one("bowl", &[bowl, cellar])]).await?;
    held_back(&ctx, "bowl", "bowl.v1.0.0", "bowl.v2.0.0").await
}

/// The same with a version of a kind: the next CRD has it no more.
async fn a_removed_version(ctx: Arc<TestContext>) -> Result<()> {
    let (a, old) = (ctx.kind("Apple"), ctx.kind("Bowl"));
    let new = Crd::new(&format!("{}.example.com", ctx.namespace), "v2", "Bowl");
    let apple = provider("apple", "1.0.0", &a, &[&old]);
    let bowl = provider("bowl", "1.0.0", &old, &[]);
    let without = provider("bowl", "2.0.0", &new, &[]).replaces("bowl.v1.0.0");
    installed(&ctx, &[apple.clone(), bowl.clone()], &["apple", "bowl"]).await?;
    ctx.publish("kitchen", &[one("apple", &[apple]), one("bowl", &[bowl, without])]).await?;
    held_back(&ctx, "bowl", "bowl.v1.0.0", "bowl.v2.0.0").await
}

/// Second example: each new version requires the other's new API and drops the
/// old one. One at a time none could move.
async fn version_deadlock(ctx: Arc<TestContext>) -> Result<()> {
    let [a, b, a2, b2] = ["Apple", "Bowl", "Applet", "Bowler"].map(|kind| ctx.kind(kind));
    let old = [provider("apple", "1.0.0", &a, &[&b]), provider("bowl", "1.0.0", &b, &[&a])];
    installed(&ctx, &old, &["apple", "bowl"]).await?;
    let [apple, bowl] = old;
    let apples = [apple, provider("apple", "2.0.0", &a2, &[&b2]).replaces("apple.v1.0.0")];
    let bowls = [bowl, provider("bowl", "2.0.0", &b2, &[&a2]).replaces("bowl.v1.0.0")];
    ctx.publish("kitchen", &[one("apple", &apples), one("bowl", &bowls)]).await?;
    let apple = ctx.at_latest("apple", "apple.v2.0.0").await?;
    let bowl = ctx.at_latest("bowl", "bowl.v2.0.0").await?;
    ctx.succeeded("apple.v2.0.0").await?;
    ctx.succeeded("bowl.v2.0.0").await?;
    let mut names = ctx.plan_of(&apple).await?.spec.cluster_service_version_names;
    names.sort();
    ensure!(names == ["apple.v2.0.0", "bowl.v2.0.0"], "the plan is for {names:?}");
    ensure!(plan(&apple)? == plan(&bowl)?, "each has a plan of its own");
    Ok(())
}

fn provider(name: &str, version: &str, provided: &Crd, required: &[&Crd]) -> Bundle {
    let csv = operator(name, version, provided);
    let csv = required.iter().fold(csv, |csv, crd| csv.requires(crd));
    let bundle = Bundle::new(version, &csv).provides(provided);
    required.iter().fold(bundle, |bundle, crd| bundle.requires(crd))
}

fn one(name: &str, versions: &[Bundle]) -> Package {
    Package::new(name).channel("stable", versions.to_vec())
}

/// Installs the first versions, each with a Subscription. The packages come into the catalog when both are there, and
/// so are resolved together.
async fn installed(ctx: &TestContext, bundles: &[Bundle; 2], names: &[&str; 2]) -> Result<()> {
    let packages: Vec<_> = names
        .iter()
        .zip(bundles)
        .map(|(name, bundle)| Package::single(name, bundle.clone()))
        .collect();
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &[]).await?;
    for name in names {
        ctx.subscribe(name, "kitchen").await?;
    }
    ctx.publish("kitchen", &packages).await?;
    for name in names {
        let csv = format!("{name}.v1.0.0");
        ctx.succeeded(&csv).await?;
        ctx.at_latest(name, &csv).await?;
    }
    Ok(())
}

/// The Subscription says why it stays at the old version, and nothing has started.
async fn held_back(ctx: &TestContext, subscription: &str, old: &str, new: &str) -> Result<()> {
    let why =
        ctx.condition(subscription, "UpgradeBlocked", "True", "ConstraintsNotSatisfiable").await?;
    let why = why.message.unwrap_or_default();
    ensure!(why.starts_with(&format!("{old} is not upgraded to {new} ")), "{why:?}");
    ensure!(why.contains("apple"), "who requires it is not named: {why:?}");
    ctx.installed(subscription, old).await?;
    ctx.succeeded(old).await?;
    ctx.succeeded("apple.v1.0.0").await?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    ensure!(csvs.get_opt(new).await?.is_none(), "the upgrade has started");
    let plans: Api<InstallPlan> = ctx.api();
    let plans = plans.list(&Default::default()).await?;
    let mut names = plans.iter().flat_map(|plan| &plan.spec.cluster_service_version_names);
    ensure!(!names.any(|name| name == new), "there is a plan for {new}");
    Ok(())
}

fn plan(subscription: &Subscription) -> Result<&str> {
    let reference =
        subscription.status.as_ref().and_then(|status| status.install_plan_ref.as_ref());
    reference.and_then(|plan| plan.name.as_deref()).context("a Subscription without a plan")
}
