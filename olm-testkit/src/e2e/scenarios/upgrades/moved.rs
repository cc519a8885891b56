//! An API moves from one package to another.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::json;

use super::{Recorded, kettles, stable};
use crate::builders::{Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v2.0.0";

/// The next kettle leaves spoons to another operator and requires it. Both come at once, what
/// users made of the kind stays, and at no moment do two operators own it.
pub async fn to_another_package(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, kettles) = (Recorded::begin(&ctx).await?, kettles(&ctx));
    let spoons = ctx.kind("Spoon");
    let old = operator("kettle", "1.0.0", &kettles).owns(&spoons);
    let old = Bundle::new("1.0.0", &old).provides(&kettles).provides(&spoons);
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(std::slice::from_ref(&old))).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let (crd, mine) = (crds.get(&spoons.name()).await?, stir(&ctx).await?);

    let new = operator("kettle", "2.0.0", &kettles).requires(&spoons);
    let new = Bundle::new("2.0.0", &new).provides(&kettles).requires(&spoons).replaces(OLD);
    let spoon = Bundle::new("1.0.0", &operator("spoon", "1.0.0", &spoons)).provides(&spoons);
    let [kettle] = stable(&[old, new]);
    ctx.publish("kitchen", &[kettle, Package::single("spoon", spoon)]).await?;
    ctx.at_latest("kettle", NEW).await?;
    ctx.succeeded(NEW).await?;
    ctx.succeeded("spoon.v1.0.0").await?;
    recorded.check_chain(&[OLD, NEW]).await?;
    ensure!(crds.get(&spoons.name()).await?.uid() == crd.uid(), "the kind was made anew");
    let after = spoon_api(&ctx).get(&mine.name_any()).await.context("a spoon is lost")?;
    ensure!(after.uid() == mine.uid(), "the spoon was made anew");
    Ok(())
}

/// A user uses the kind.
async fn stir(ctx: &TestContext) -> Result<DynamicObject> {
    let mut spoon = DynamicObject::new("mine", &resource(ctx));
    spoon.data = json!({"spec": {"length": 12}});
    let made = spoon_api(ctx).create(&PostParams::default(), &spoon).await;
    made.context("cannot use the kind")
}

fn spoon_api(ctx: &TestContext) -> Api<DynamicObject> {
    Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource(ctx))
}

fn resource(ctx: &TestContext) -> ApiResource {
    let group = format!("{}.example.com", ctx.namespace);
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(&group, "v1", "Spoon"), "spoons")
}
