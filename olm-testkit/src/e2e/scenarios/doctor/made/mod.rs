//! How each case is made.

pub(super) mod catalogs;
pub(super) mod cluster;
pub(super) mod csvs;
pub(super) mod groups;
pub(super) mod leftovers;
pub(super) mod names;
pub(super) mod plans;
pub(super) mod subscriptions;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_types::api::Subscription;
use serde_json::{Value, json};

use super::CATALOG;
use crate::builders::{self, Crd};
use crate::e2e::TestContext;
use crate::operators::OLM_NAMESPACE;
use crate::wait::Waitable;

/// A Subscription to a package of the catalog that all cases see.
fn subscription(ctx: &TestContext, package: &str) -> Subscription {
    let mut subscription = builders::subscription(&ctx.namespace, package, "stable", CATALOG);
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    subscription
}

async fn subscribe(ctx: &TestContext, package: &str) -> Result<()> {
    ctx.create(&subscription(ctx, package)).await.map(drop)
}

/// An operator that is installed, and healthy.
async fn installed(ctx: &TestContext, package: &str) -> Result<String> {
    let csv = format!("{package}.v1.0.0");
    ctx.operator_group().await?;
    subscribe(ctx, package).await?;
    ctx.succeeded(&csv).await?;
    ctx.at_latest(package, &csv).await?;
    Ok(csv)
}

/// Makes a definition, and does not wait until it is served.
async fn define(client: &Client, crd: &Crd, metadata: Value, spec: Value) -> Result<()> {
    let mut manifest = crd.manifest();
    for (field, more) in [("metadata", metadata), ("spec", spec)] {
        if let (Some(fields), Value::Object(more)) = (manifest[field].as_object_mut(), more) {
            fields.extend(more);
        }
    }
    let definition = serde_json::from_value(manifest).context("a malformed definition")?;
    let definitions: Api<
        k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    > = Api::all(client.clone());
    let made = definitions.create(&PostParams::default(), &definition).await;
    made.map(drop).context("cannot make a definition")
}

async fn patch<K: Waitable>(api: &Api<K>, name: &str, change: Value) -> Result<()> {
    let patched = api.patch(name, &PatchParams::default(), &Patch::Merge(change)).await;
    patched.map(drop).with_context(|| format!("cannot change {name}"))
}

async fn patch_status<K: Waitable>(api: &Api<K>, name: &str, status: Value) -> Result<()> {
    let change = Patch::Merge(json!({ "status": status }));
    let patched = api.patch_status(name, &PatchParams::default(), &change).await;
    patched.map(drop).with_context(|| format!("cannot change the status of {name}"))
}
