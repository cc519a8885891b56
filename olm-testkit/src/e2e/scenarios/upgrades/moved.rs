//! An API moves from one package to another.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::json;

use super::{Story, kettles, stable};
use crate::builders::{Bundle, Package};
use crate::e2e::scenarios::install::operator;
use crate::e2e::scene::Scene;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v2.0.0";

/// The next kettle leaves spoons to another operator and requires it. Both come at once, what
/// users made of the kind stays, and at no moment do two operators own it.
pub async fn to_another_package(scene: Arc<Scene>) -> Result<()> {
    let (story, kettles) = (Story::begin(&scene).await?, kettles(&scene));
    let spoons = scene.kind("Spoon");
    let old = operator("kettle", "1.0.0", &kettles).owns(&spoons);
    let old = Bundle::new("1.0.0", &old).provides(&kettles).provides(&spoons);
    scene.operator_group().await?;
    scene.catalog("kitchen", &stable(std::slice::from_ref(&old))).await?;
    scene.subscribe("kettle", "kitchen").await?;
    scene.succeeded(OLD).await?;
    scene.at_latest("kettle", OLD).await?;
    let crds: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    let (crd, mine) = (crds.get(&spoons.name()).await?, stir(&scene).await?);

    let new = operator("kettle", "2.0.0", &kettles).requires(&spoons);
    let new = Bundle::new("2.0.0", &new).provides(&kettles).requires(&spoons).replaces(OLD);
    let spoon = Bundle::new("1.0.0", &operator("spoon", "1.0.0", &spoons)).provides(&spoons);
    let [kettle] = stable(&[old, new]);
    scene.publish("kitchen", &[kettle, Package::single("spoon", spoon)]).await?;
    scene.at_latest("kettle", NEW).await?;
    scene.succeeded(NEW).await?;
    scene.succeeded("spoon.v1.0.0").await?;
    story.check_chain(&[OLD, NEW]).await?;
    ensure!(crds.get(&spoons.name()).await?.uid() == crd.uid(), "the kind was made anew");
    let after = spoon_api(&scene).get(&mine.name_any()).await.context("a spoon is lost")?;
    ensure!(after.uid() == mine.uid(), "the spoon was made anew");
    Ok(())
}

/// A user uses the kind.
async fn stir(scene: &Scene) -> Result<DynamicObject> {
    let mut spoon = DynamicObject::new("mine", &resource(scene));
    spoon.data = json!({"spec": {"length": 12}});
    let made = spoon_api(scene).create(&PostParams::default(), &spoon).await;
    made.context("cannot use the kind")
}

fn spoon_api(scene: &Scene) -> Api<DynamicObject> {
    Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource(scene))
}

fn resource(scene: &Scene) -> ApiResource {
    let group = format!("{}.example.com", scene.namespace);
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(&group, "v1", "Spoon"), "spoons")
}
