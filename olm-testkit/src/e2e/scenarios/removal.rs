//! What was installed is taken away again.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::api::{
    ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription, SubscriptionState,
};
use olm_types::{finalizers, labels};

use crate::e2e::context::TestContext;
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::e2e::{Scenario, scenario};
use crate::wait::{self, Waitable};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "removal::a_subscription",
            "without its Subscription an operator stays at work",
            a_subscription,
        ),
        scenario(
            "removal::an_operator",
            "with its CSV an operator goes, and all that was made for it",
            an_operator,
        ),
        scenario(
            "removal::an_operator_that_is_subscribed_to",
            "a CSV that is deleted under its Subscription is not created again",
            an_operator_that_is_subscribed_to,
        ),
    ]
}

const KETTLE: &str = "kettle.v1.0.0";

/// Without its Subscription an operator stays at work; only its plans go.
async fn a_subscription(ctx: Arc<TestContext>) -> Result<()> {
    let plan = install(&ctx).await?;
    let deployments: Api<Deployment> = ctx.api();
    let before = deployments.get("kettle-manager").await?;
    ctx.api::<Subscription>().delete("kettle", &DeleteParams::default()).await?;
    // The garbage collector of the cluster has understood that the Subscription is gone.
    wait::until_gone(&ctx.api::<InstallPlan>(), &plan.name_any()).await?;
    ctx.until_idle().await?;
    ctx.succeeded(KETTLE).await?;
    let after = deployments.get("kettle-manager").await?;
    ensure!(before.metadata.generation == after.metadata.generation, "the Deployment has changed");
    Ok(())
}

/// With its ClusterServiceVersion an operator goes, and all that was made for it; its kind stays,
/// and with it what users keep in it.
async fn an_operator(ctx: Arc<TestContext>) -> Result<()> {
    install(&ctx).await?;
    let once = DeleteParams::default();
    ctx.api::<Subscription>().delete("kettle", &once).await?;
    let rights = cluster_rights(&ctx).await?;
    ensure!(rights.iter().all(|names| !names.is_empty()), "no rights in the cluster: {rights:?}");
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    let csv = csvs.get(KETTLE).await?;
    ensure!(csv.finalizers().iter().any(|name| name == finalizers::CSV_CLEANUP), "no finalizer");

    csvs.delete(KETTLE, &once).await?;
    wait::until_gone(&csvs, KETTLE).await?;
    // The finalizer holds the CSV until these are gone; no waiting here.
    let rights = cluster_rights(&ctx).await?;
    ensure!(rights.iter().all(Vec::is_empty), "rights in the cluster are left: {rights:?}");
    all_gone::<Deployment>(&ctx).await?;
    all_gone::<Role>(&ctx).await?;
    all_gone::<RoleBinding>(&ctx).await?;
    wait::until_gone(&ctx.api::<ServiceAccount>(), "kettle").await?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    crds.get(&kettles(&ctx).name()).await.context("the kind is gone")?;
    ctx.api::<OperatorGroup>().get("group").await.context("the OperatorGroup is gone")?;
    Ok(())
}

/// A ClusterServiceVersion that is deleted under its Subscription is not created again: whoever
/// deletes it wants it gone. The Subscription says that it is not there.
async fn an_operator_that_is_subscribed_to(ctx: Arc<TestContext>) -> Result<()> {
    install(&ctx).await?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    csvs.delete(KETTLE, &DeleteParams::default()).await?;
    wait::until_gone(&csvs, KETTLE).await?;
    wait::until(&ctx.api(), "kettle", "miss its CSV", |subscription: &Subscription| {
        let state = subscription.status.as_ref().map(|status| status.state);
        state == Some(SubscriptionState::UpgradePending)
    })
    .await?;
    all_gone::<Deployment>(&ctx).await?;
    ctx.until_idle().await?;
    ensure!(csvs.get_opt(KETTLE).await?.is_none(), "the CSV is back");
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?.items;
    ensure!(plans.len() == 1, "there are {} plans", plans.len());
    Ok(())
}

async fn install(ctx: &TestContext) -> Result<InstallPlan> {
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(&[kettle("1.0.0", &kettles(ctx))])).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(KETTLE).await?;
    let subscription = ctx.at_latest("kettle", KETTLE).await?;
    ctx.plan_of(&subscription).await
}

/// Names of the ClusterRoles and ClusterRoleBindings that belong to the CSV.
async fn cluster_rights(ctx: &TestContext) -> Result<[Vec<String>; 2]> {
    let ours = format!(
        "{}={KETTLE},{}={},{}=ClusterServiceVersion",
        labels::OWNER,
        labels::OWNER_NAMESPACE,
        ctx.namespace,
        labels::OWNER_KIND
    );
    let ours = ListParams::default().labels(&ours);
    let roles = Api::<ClusterRole>::all(ctx.client.clone()).list(&ours).await?;
    let bindings = Api::<ClusterRoleBinding>::all(ctx.client.clone()).list(&ours).await?;
    Ok([
        roles.iter().map(ResourceExt::name_any).collect(),
        bindings.iter().map(ResourceExt::name_any).collect(),
    ])
}

/// Waits until the garbage collector of the cluster has taken every object of a kind.
async fn all_gone<K>(ctx: &TestContext) -> Result<()>
where
    K: Waitable + kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
{
    let api: Api<K> = ctx.api();
    for object in api.list(&ListParams::default()).await? {
        wait::until_gone(&api, &object.name_any()).await?;
    }
    Ok(())
}
