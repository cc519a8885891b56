//! The ConfigMap with the versions of the greeter.

use anyhow::Result;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::super::greeter;
use super::SHELF;
use crate::e2e::TestContext;

/// Makes it in OLM's namespace.
pub(super) async fn create(ctx: &TestContext, versions: &[&str]) -> Result<()> {
    let object = json!({"metadata": {"name": SHELF}, "data": data(ctx, versions)});
    ctx.create_for_all::<ConfigMap>(object).await.map(drop)
}

/// Gives it other versions.
pub(super) async fn replace(ctx: &TestContext, versions: &[&str]) -> Result<()> {
    let data = Patch::Merge(json!({"data": data(ctx, versions)}));
    ctx.olm_api::<ConfigMap>()?.patch(SHELF, &PatchParams::default(), &data).await?;
    Ok(())
}

fn data(ctx: &TestContext, versions: &[&str]) -> Value {
    let name = |version: &str| format!("greeter.v{version}");
    let befores = [None].into_iter().chain(versions.iter().map(Some));
    let csvs: Vec<Value> = versions
        .iter()
        .zip(befores)
        .map(|(version, before)| {
            let csv = greeter::version_of(ctx, version);
            let csv = match before {
                Some(before) => csv.replaces(&name(before)),
                None => csv,
            };
            ctx.dressed(csv.manifest())
        })
        .collect();
    let head = versions.last().map(|version| name(version));
    let channels = json!([{"name": "stable", "currentCSV": head}]);
    json!({
        "customResourceDefinitions": json!([greeter::kind(ctx).manifest()]).to_string(),
        "clusterServiceVersions": json!(csvs).to_string(),
        "packages": json!([{"packageName": "greeter", "channels": channels}]).to_string(),
    })
}
