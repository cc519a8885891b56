//! Several versions, each of which replaces the one before.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Resource, ResourceExt};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{Recorded, kettle, kettles, stable};
use crate::builders::{self, Bundle};
use crate::e2e::context::{TestContext, same};
use crate::e2e::scenarios::install::operator;
use crate::wait;

const VERSIONS: [&str; 3] = ["kettle.v1.0.0", "kettle.v1.1.0", "kettle.v1.2.0"];

/// What a Subscription says on the way through the versions.
const WAY: [&str; 7] = [
    "- - - -",
    "UpgradePending kettle.v1.0.0 - 1",
    "AtLatestKnown kettle.v1.0.0 kettle.v1.0.0 1",
    "UpgradePending kettle.v1.1.0 kettle.v1.0.0 2",
    "AtLatestKnown kettle.v1.1.0 kettle.v1.1.0 2",
    "UpgradePending kettle.v1.2.0 kettle.v1.1.0 3",
    "AtLatestKnown kettle.v1.2.0 kettle.v1.2.0 3",
];

/// The catalog brings two more versions, the first of which changes the stored version of the
/// kind and drops a Deployment.
pub async fn two_versions_with_a_crd_change(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, versions) = (Recorded::begin(&ctx).await?, versions(&ctx));
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(&versions[..1])).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(VERSIONS[0]).await?;
    ctx.at_latest("kettle", VERSIONS[0]).await?;
    boil(&ctx).await?;
    let deployments: Api<Deployment> = ctx.api();
    let before = deployments.get("kettle-manager").await?;
    deployments.get("kettle-lid").await.context("the old version has no lid")?;

    ctx.publish("kitchen", &stable(&versions)).await?;
    ctx.at_latest("kettle", VERSIONS[2]).await?;
    recorded.check_replacements(&VERSIONS).await?;
    recorded.check_subscription("kettle", &WAY).await?;
    recorded.check_plans(&ctx, &VERSIONS).await?;
    check_kind(&ctx).await?;
    check_adopted(&ctx, &before).await?;
    wait::until_gone(&deployments, "kettle-lid").await?;
    check_rights(&ctx).await
}

/// The catalog has all versions from the beginning; the Subscription starts with the oldest.
pub async fn from_the_starting_csv(ctx: Arc<TestContext>) -> Result<()> {
    let recorded = Recorded::begin(&ctx).await?;
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(&versions(&ctx))).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.starting_csv = Some(VERSIONS[0].to_owned());
    ctx.create(&subscription).await?;
    ctx.at_latest("kettle", VERSIONS[2]).await?;
    recorded.check_replacements(&VERSIONS).await?;
    recorded.check_subscription("kettle", &WAY).await?;
    recorded.check_plans(&ctx, &VERSIONS).await
}

/// Three versions, each of which replaces the one before.
fn versions(ctx: &TestContext) -> [Bundle; 3] {
    let (old, new) = (kettles(ctx), kettles(ctx).and_version("v2"));
    let first = operator("kettle", "1.0.0", &old).deployment("kettle-lid", "kettle");
    [
        Bundle::new("1.0.0", &first).provides(&old),
        kettle("1.1.0", &new).replaces(VERSIONS[0]),
        kettle("1.2.0", &new).replaces(VERSIONS[1]),
    ]
}

/// The objects of the kind in one version.
fn objects(ctx: &TestContext, version: &str) -> Api<DynamicObject> {
    let group = format!("{}.example.com", ctx.namespace);
    let gvk = GroupVersionKind::gvk(&group, version, "Kettle");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "kettles");
    Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource)
}

/// A user uses the first version.
async fn boil(ctx: &TestContext) -> Result<()> {
    let kettle = serde_json::from_value(json!({
        "apiVersion": format!("{}.example.com/v1", ctx.namespace),
        "kind": "Kettle",
        "metadata": {"name": "mine"},
        "spec": {"litres": 2},
    }))?;
    let created = objects(ctx, "v1").create(&PostParams::default(), &kettle).await;
    created.map(drop).context("cannot use the kind")
}

/// The kind has its new version, and what was stored in the old one is there in both.
async fn check_kind(ctx: &TestContext) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let crd = crds.get(&kettles(ctx).name()).await?;
    let stored = crd.status.and_then(|status| status.stored_versions).unwrap_or_default();
    ensure!(stored == ["v1", "v2"], "stored versions are {stored:?}");
    for version in ["v1", "v2"] {
        let mine = objects(ctx, version).get("mine").await.context("content is lost")?;
        ensure!(mine.data["spec"] == json!({"litres": 2}), "{version}: {:?}", mine.data);
    }
    Ok(())
}

/// The Deployment is the same object, in the hands of the last version only.
async fn check_adopted(ctx: &TestContext, before: &Deployment) -> Result<()> {
    let after = ctx.api::<Deployment>().get("kettle-manager").await?;
    let csv = ctx.api::<ClusterServiceVersion>().get(VERSIONS[2]).await?;
    ensure!(after.uid() == before.uid(), "the Deployment was made anew");
    let owners: Vec<_> = after.owner_references().iter().map(|owner| &owner.uid).collect();
    ensure!(owners == csv.uid().iter().collect::<Vec<_>>(), "{:?}", after.owner_references());
    same(after.labels().get(labels::OWNER).map(String::as_str), VERSIONS[2])?;
    let hash = |deployment: &Deployment| {
        deployment.labels().get(labels::DEPLOYMENT_SPEC_HASH).cloned().unwrap_or_default()
    };
    ensure!(!hash(&after).is_empty() && hash(&after) != hash(before), "{:?}", hash(&after));
    Ok(())
}

/// Rights are those of the last version; what the others had is taken back.
async fn check_rights(ctx: &TestContext) -> Result<()> {
    let cluster = ctx.client.clone();
    only_of_the_last(ctx, Api::<ClusterRole>::all(cluster.clone())).await?;
    only_of_the_last(ctx, Api::<ClusterRoleBinding>::all(cluster)).await?;
    only_of_the_last(ctx, ctx.api::<Role>()).await?;
    only_of_the_last(ctx, ctx.api::<RoleBinding>()).await
}

async fn only_of_the_last<K>(ctx: &TestContext, api: Api<K>) -> Result<()>
where
    K: Resource<DynamicType = ()> + wait::Waitable + DeserializeOwned,
{
    let ours = format!("{}={}", labels::OWNER_NAMESPACE, ctx.namespace);
    let list = api.list(&ListParams::default().labels(&ours)).await?;
    for object in list {
        let owner = object.labels().get(labels::OWNER).cloned().unwrap_or_default();
        if VERSIONS[..2].contains(&owner.as_str()) {
            // The garbage collector of the cluster comes a moment later.
            wait::until_gone(&api, &object.name_any()).await?;
        }
    }
    Ok(())
}
