//! Everything is deleted without a pause, in one order or another.

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, ListParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{ClusterServiceVersion, InstallPlan};

use super::two_plans::UserObject::{Catalog, Csvs, Group, Plans, Subscription};
use super::two_plans::{TwoPlans, UserObject, delete};
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// Names of scenarios, what they are about, and the order of deletion. In the last column is
/// whether the next version may have been installed meanwhile: while a Subscription is there without
/// a plan, it gets one. What came so is deleted once more.
const ORDERS: &[(&str, &str, &[UserObject], bool)] = &[
    (
        "uninstall::subscription_csv_group",
        "nothing comes back after Subscription, CSV and group were deleted",
        &[Subscription, Csvs, Group],
        false,
    ),
    (
        "uninstall::subscription_plans_csv",
        "nothing comes back after Subscription, plans and CSV were deleted",
        &[Subscription, Plans, Csvs, Catalog, Group],
        false,
    ),
    (
        "uninstall::csv_subscription_group",
        "nothing comes back after CSV, Subscription and group were deleted",
        &[Csvs, Subscription, Group, Catalog],
        false,
    ),
    (
        "uninstall::group_csv_subscription",
        "nothing comes back after group, CSV and Subscription were deleted",
        &[Group, Csvs, Subscription],
        false,
    ),
    (
        "uninstall::catalog_group_subscription",
        "nothing comes back after catalog, group, Subscription and CSV were deleted",
        &[Catalog, Group, Subscription, Csvs],
        false,
    ),
    (
        "uninstall::plans_csv_subscription",
        "nothing comes back after plans, CSV, Subscription and catalog were deleted",
        &[Plans, Csvs, Subscription, Catalog, Group],
        true,
    ),
    (
        "uninstall::csv_plans_subscription",
        "nothing comes back after CSV, plans, group and Subscription were deleted",
        &[Csvs, Plans, Group, Subscription],
        true,
    ),
];

/// One scenario for each order, and one for the namespace.
pub(super) fn all() -> Vec<Scenario> {
    let orders = ORDERS.iter().map(|&(name, about, things, brief)| {
        scenario(name, about, move |ctx| in_order(ctx, things, brief))
    });
    let namespace = scenario(
        "uninstall::namespace",
        "nothing comes back while the namespace is being deleted",
        the_namespace,
    );
    orders.chain([namespace]).collect()
}

async fn in_order(ctx: Arc<TestContext>, things: &'static [UserObject], brief: bool) -> Result<()> {
    let plans = TwoPlans::begin(&ctx).await?;
    for thing in things {
        delete(&ctx, *thing).await?;
    }
    all_gone::<InstallPlan>(&ctx).await?;
    ctx.until_idle().await?;
    if brief {
        delete(&ctx, Csvs).await?;
    }
    all_gone::<ClusterServiceVersion>(&ctx).await?;
    ctx.until_idle().await?;
    let left = ctx.api::<ClusterServiceVersion>().list(&ListParams::default()).await?.items;
    let left: Vec<_> = left.iter().map(ResourceExt::name_any).collect();
    ensure!(left.is_empty(), "{left:?} came back");
    if brief { Ok(()) } else { plans.next_version_never_came() }
}

/// The stuck plan may go first of all that is in the namespace.
async fn the_namespace(ctx: Arc<TestContext>) -> Result<()> {
    let plans = TwoPlans::begin(&ctx).await?;
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    namespaces.delete(&ctx.namespace, &DeleteParams::default()).await?;
    ctx.api::<InstallPlan>().delete(&plans.older, &DeleteParams::default()).await.ok();
    wait::until_gone(&namespaces, &ctx.namespace).await?;
    ensure!(!plans.csvs().is_empty(), "nothing was recorded");
    plans.next_version_never_came()
}

/// Waits until no object of a kind is left of those that are there now.
async fn all_gone<K>(ctx: &TestContext) -> Result<()>
where
    K: wait::Waitable + Resource<Scope = k8s_openapi::NamespaceResourceScope>,
{
    let api: Api<K> = ctx.api();
    for object in api.list(&ListParams::default()).await? {
        wait::until_gone(&api, &object.name_any()).await?;
    }
    Ok(())
}
