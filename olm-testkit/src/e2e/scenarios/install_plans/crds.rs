//! Upgrades of CustomResourceDefinitions (spec catalog-operator 4.5).

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use kube::{Api, ResourceExt};
use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};

use super::{cluster, event, message, plan};
use crate::builders::{self, Bundle, Crd, Package, csv};
use crate::e2e::context::{TestContext, same};

fn version(name: &str, served: bool, storage: bool, max: i64) -> Value {
    let size = json!({"type": "integer", "maximum": max});
    let spec = json!({"type": "object", "properties": {"size": size}});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": schema}})
}

/// A bundle of `jar` that brings these versions of its kind and owns the last one.
fn jar(kind: &Crd, number: &str, versions: &[Value]) -> Bundle {
    let mut manifest = kind.manifest();
    manifest["spec"]["versions"] = json!(versions);
    let owned = versions.last().and_then(|version| version["name"].as_str()).unwrap_or_default();
    let mut gvk = kind.gvk();
    gvk["version"] = json!(owned);
    let operator = csv(&format!("jar.v{number}"), number).deployment("jar", "default").owns(kind);
    let owned = owned.to_owned();
    let operator = operator.with(move |csv| {
        let crds = csv.spec.customresourcedefinitions.get_or_insert_default();
        crds.owned.iter_mut().for_each(|crd| crd.version.clone_from(&owned));
    });
    Bundle::new(number, &operator).property("olm.gvk", gvk).manifest(manifest)
}

fn stable(bundles: &[Bundle]) -> [Package; 1] {
    [Package::new("jar").channel("stable", bundles.to_vec())]
}

fn objects(ctx: &TestContext, kind: &Crd, version: &str) -> Api<DynamicObject> {
    let gvk = kind.gvk();
    let group = gvk["group"].as_str().unwrap_or_default();
    let gvk = GroupVersionKind::gvk(group, version, "Jar");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "jars");
    Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource)
}

async fn create(ctx: &TestContext, kind: &Crd, version: &str, size: i64) -> Result<()> {
    let group = kind.gvk()["group"].as_str().unwrap_or_default().to_owned();
    let object = serde_json::from_value(json!({
        "apiVersion": format!("{group}/{version}"), "kind": "Jar", "metadata": {"name": "big"}, "spec": {"size": size},
    }))?;
    let made = objects(ctx, kind, version).create(&PostParams::default(), &object).await;
    made.map(drop).context("cannot create a jar")
}

/// The upgrade waits while an object is invalid, says which, and goes on when it is not.
pub(super) async fn objects_that_do_not_fit(ctx: Arc<TestContext>) -> Result<()> {
    let kind = ctx.kind("Jar");
    let old = jar(&kind, "1.0.0", &[version("v1", true, true, 10)]);
    let new = jar(&kind, "1.1.0", &[version("v1", true, true, 5)]).replaces("jar.v1.0.0");
    ctx.operator_group().await?;
    ctx.catalog("shelf", &stable(std::slice::from_ref(&old))).await?;
    ctx.subscribe("jar", "shelf").await?;
    ctx.succeeded("jar.v1.0.0").await?;
    create(&ctx, &kind, "v1", 9).await?;
    ctx.publish("shelf", &stable(&[old, new])).await?;
    let (name, gvk) = (kind.name(), kind.gvk());
    let text = format!(
        "retrying execution due to error: error validating existing CRs against new CRD's schema for \"{name}\": error \
         validating {}/v1, Kind=Jar \"{}/big\": updated validation is too restrictive: [].spec.size: Invalid value: 9: \
         spec.size in body should be less than or equal to 5",
        gvk["group"].as_str().unwrap_or_default(),
        ctx.namespace
    );
    let text = text.as_str();
    plan(&ctx, "name the object that does not fit", move |plan| message(plan) == text).await?;
    ctx.conclude_refused_plans().await?;
    let smaller = Patch::Merge(json!({"spec": {"size": 3}}));
    objects(&ctx, &kind, "v1").patch("big", &PatchParams::default(), &smaller).await?;
    ctx.succeeded("jar.v1.1.0").await?;
    ctx.at_latest("jar", "jar.v1.1.0").await.map(drop)
}

/// Not served, then not stored, then gone; the object that was stored in it stays.
pub(super) async fn a_version_retires(ctx: Arc<TestContext>) -> Result<()> {
    let kind = ctx.kind("Jar");
    let steps = [
        jar(&kind, "1.0.0", &[version("v1", true, true, 10)]),
        jar(&kind, "1.1.0", &[version("v1", false, false, 10), version("v2", true, true, 10)])
            .replaces("jar.v1.0.0"),
        jar(&kind, "1.2.0", &[version("v2", true, true, 10)]).replaces("jar.v1.1.0"),
    ];
    ctx.operator_group().await?;
    ctx.catalog("shelf", &stable(&steps[..1])).await?;
    ctx.subscribe("jar", "shelf").await?;
    ctx.succeeded("jar.v1.0.0").await?;
    create(&ctx, &kind, "v1", 9).await?;
    ctx.publish("shelf", &stable(&steps[..2])).await?;
    ctx.succeeded("jar.v1.1.0").await?;
    let before = objects(&ctx, &kind, "v2").get("big").await?.resource_version();
    ctx.publish("shelf", &stable(&steps)).await?;
    ctx.succeeded("jar.v1.2.0").await?;
    let rewritten = "ObjectsRewritten";
    event(&ctx, "report what was written anew", |event| event.reason.as_deref() == Some(rewritten))
        .await?;
    let crd = cluster::<CustomResourceDefinition>(&ctx).get(&kind.name()).await?;
    let stored = crd.status.and_then(|status| status.stored_versions).unwrap_or_default();
    same(Some(&stored.join(",")), "v2")?;
    let object = objects(&ctx, &kind, "v2").get("big").await?;
    ensure!(object.resource_version() != before, "the object is still stored in the old version");
    ensure!(object.data["spec"]["size"] == json!(9), "{:?}", object.data);
    Ok(())
}

/// The CSV of another operator that owns the kind keeps a served version in place.
pub(super) async fn two_owners(ctx: Arc<TestContext>) -> Result<()> {
    let kind = ctx.kind("Jar");
    let both = [version("v1", true, false, 10), version("v2", true, true, 10)];
    let old = jar(&kind, "1.0.0", &both);
    let new = jar(&kind, "1.1.0", &both[1..]).replaces("jar.v1.0.0");
    // Long before the upgrade, so that the watch of catalog-operator has brought it.
    let namespaces = cluster::<Namespace>(&ctx);
    let elsewhere = format!("{}-guest", ctx.namespace);
    namespaces.create(&PostParams::default(), &builders::namespace(&elsewhere)).await?;
    let other = csv("guest.v1.0.0", "1.0.0").deployment("guest", "default").owns(&kind).build();
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(ctx.client.clone(), &elsewhere);
    csvs.create(&PostParams::default(), &other).await.context("cannot create a CSV")?;
    ctx.operator_group().await?;
    ctx.catalog("shelf", &stable(std::slice::from_ref(&old))).await?;
    ctx.subscribe("jar", "shelf").await?;
    ctx.succeeded("jar.v1.0.0").await?;
    ctx.publish("shelf", &stable(&[old, new])).await?;
    let reported = plan(&ctx, "name the owners", |plan| {
        let text = message(plan);
        text.contains("is owned by several operators (") && text.contains("guest.v1.0.0")
    });
    let reported = reported.await.map(drop);
    namespaces.delete(&elsewhere, &DeleteParams::background()).await?;
    reported
}
