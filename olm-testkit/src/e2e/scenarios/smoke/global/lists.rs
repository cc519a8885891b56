//! The ConfigMap with the versions of the greeter.

use anyhow::Result;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::super::greeter;
use super::SHELF;
use crate::e2e::Scene;

/// Makes it in OLM's namespace.
pub(super) async fn create(scene: &Scene, versions: &[&str]) -> Result<()> {
    let object = json!({"metadata": {"name": SHELF}, "data": data(scene, versions)});
    scene.create_for_all::<ConfigMap>(object).await.map(drop)
}

/// Gives it other versions.
pub(super) async fn replace(scene: &Scene, versions: &[&str]) -> Result<()> {
    let data = Patch::Merge(json!({"data": data(scene, versions)}));
    scene.olm_api::<ConfigMap>()?.patch(SHELF, &PatchParams::default(), &data).await?;
    Ok(())
}

fn data(scene: &Scene, versions: &[&str]) -> Value {
    let name = |version: &str| format!("greeter.v{version}");
    let befores = [None].into_iter().chain(versions.iter().map(Some));
    let csvs: Vec<Value> = versions
        .iter()
        .zip(befores)
        .map(|(version, before)| {
            let csv = greeter::version_of(scene, version);
            let csv = match before {
                Some(before) => csv.replaces(&name(before)),
                None => csv,
            };
            scene.dressed(csv.manifest())
        })
        .collect();
    let head = versions.last().map(|version| name(version));
    let channels = json!([{"name": "stable", "currentCSV": head}]);
    json!({
        "customResourceDefinitions": json!([greeter::kind(scene).manifest()]).to_string(),
        "clusterServiceVersions": json!(csvs).to_string(),
        "packages": json!([{"packageName": "greeter", "channels": channels}]).to_string(),
    })
}
