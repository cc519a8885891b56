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

use super::{Story, kettle, kettles, stable};
use crate::builders::{self, Bundle};
use crate::e2e::scenarios::install::operator;
use crate::e2e::scene::{Scene, same};
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
pub async fn two_versions_with_a_crd_change(scene: Arc<Scene>) -> Result<()> {
    let (story, versions) = (Story::begin(&scene).await?, versions(&scene));
    scene.operator_group().await?;
    scene.catalog("kitchen", &stable(&versions[..1])).await?;
    scene.subscribe("kettle", "kitchen").await?;
    scene.succeeded(VERSIONS[0]).await?;
    scene.at_latest("kettle", VERSIONS[0]).await?;
    boil(&scene).await?;
    let deployments: Api<Deployment> = scene.api();
    let before = deployments.get("kettle-manager").await?;
    deployments.get("kettle-lid").await.context("the old version has no lid")?;

    scene.publish("kitchen", &stable(&versions)).await?;
    scene.at_latest("kettle", VERSIONS[2]).await?;
    story.check_replacements(&VERSIONS).await?;
    story.check_subscription("kettle", &WAY).await?;
    story.check_plans(&scene, &VERSIONS).await?;
    check_kind(&scene).await?;
    check_adopted(&scene, &before).await?;
    wait::until_gone(&deployments, "kettle-lid").await?;
    check_rights(&scene).await
}

/// The catalog has all versions from the beginning; the Subscription starts with the oldest.
pub async fn from_the_starting_csv(scene: Arc<Scene>) -> Result<()> {
    let story = Story::begin(&scene).await?;
    scene.operator_group().await?;
    scene.catalog("kitchen", &stable(&versions(&scene))).await?;
    let mut subscription = builders::subscription(&scene.namespace, "kettle", "stable", "kitchen");
    subscription.spec.starting_csv = Some(VERSIONS[0].to_owned());
    scene.create(&subscription).await?;
    scene.at_latest("kettle", VERSIONS[2]).await?;
    story.check_replacements(&VERSIONS).await?;
    story.check_subscription("kettle", &WAY).await?;
    story.check_plans(&scene, &VERSIONS).await
}

/// Three versions, each of which replaces the one before.
fn versions(scene: &Scene) -> [Bundle; 3] {
    let (old, new) = (kettles(scene), kettles(scene).and_version("v2"));
    let first = operator("kettle", "1.0.0", &old).deployment("kettle-lid", "kettle");
    [
        Bundle::new("1.0.0", &first).provides(&old),
        kettle("1.1.0", &new).replaces(VERSIONS[0]),
        kettle("1.2.0", &new).replaces(VERSIONS[1]),
    ]
}

/// The objects of the kind in one version.
fn objects(scene: &Scene, version: &str) -> Api<DynamicObject> {
    let group = format!("{}.example.com", scene.namespace);
    let gvk = GroupVersionKind::gvk(&group, version, "Kettle");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "kettles");
    Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource)
}

/// A user uses the first version.
async fn boil(scene: &Scene) -> Result<()> {
    let kettle = serde_json::from_value(json!({
        "apiVersion": format!("{}.example.com/v1", scene.namespace),
        "kind": "Kettle",
        "metadata": {"name": "mine"},
        "spec": {"litres": 2},
    }))?;
    let created = objects(scene, "v1").create(&PostParams::default(), &kettle).await;
    created.map(drop).context("cannot use the kind")
}

/// The kind has its new version, and what was stored in the old one is there in both.
async fn check_kind(scene: &Scene) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    let crd = crds.get(&kettles(scene).name()).await?;
    let stored = crd.status.and_then(|status| status.stored_versions).unwrap_or_default();
    ensure!(stored == ["v1", "v2"], "stored versions are {stored:?}");
    for version in ["v1", "v2"] {
        let mine = objects(scene, version).get("mine").await.context("content is lost")?;
        ensure!(mine.data["spec"] == json!({"litres": 2}), "{version}: {:?}", mine.data);
    }
    Ok(())
}

/// The Deployment is the same object, in the hands of the last version only.
async fn check_adopted(scene: &Scene, before: &Deployment) -> Result<()> {
    let after = scene.api::<Deployment>().get("kettle-manager").await?;
    let csv = scene.api::<ClusterServiceVersion>().get(VERSIONS[2]).await?;
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
async fn check_rights(scene: &Scene) -> Result<()> {
    let cluster = scene.client.clone();
    only_of_the_last(scene, Api::<ClusterRole>::all(cluster.clone())).await?;
    only_of_the_last(scene, Api::<ClusterRoleBinding>::all(cluster)).await?;
    only_of_the_last(scene, scene.api::<Role>()).await?;
    only_of_the_last(scene, scene.api::<RoleBinding>()).await
}

async fn only_of_the_last<K>(scene: &Scene, api: Api<K>) -> Result<()>
where
    K: Resource<DynamicType = ()> + wait::Waitable + DeserializeOwned,
{
    let ours = format!("{}={}", labels::OWNER_NAMESPACE, scene.namespace);
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
