//! What is wrong with one object is said at that object, and nothing else suffers.

use std::sync::Arc;

use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use olm_testkit::builders::{Bundle, CatalogDir, Crd, Package, csv};
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion};
use serde_json::json;

use crate::scene::Scene;

/// A CSV of nearly the size that etcd takes installs like any other.
pub async fn a_large_csv(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let large = csv("large.v1.0.0", "1.0.0")
        .deployment("large", "default")
        .description("All work and no play. ".repeat(900_000 / 22));
    scene.create(&large.build()).await?;
    scene.succeeded("large.v1.0.0").await.map(drop)
}

/// An owned CRD whose name cannot be one: the CSV says which, its neighbour installs.
pub async fn a_crd_without_a_dot(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let wrong = csv("wrong.v1.0.0", "1.0.0").deployment("wrong", "default").with(|csv| {
        let crds = csv.spec.customresourcedefinitions.get_or_insert_default();
        crds.owned.push(olm_types::api::CrdDescription {
            name: "dotless".to_owned(),
            version: "v1".to_owned(),
            kind: "Dotless".to_owned(),
            ..Default::default()
        });
    });
    scene.create(&wrong.build()).await?;
    scene.create(&csv("right.v1.0.0", "1.0.0").deployment("right", "default").build()).await?;
    scene.succeeded("right.v1.0.0").await?;
    let explained = |csv: &ClusterServiceVersion| {
        let message = csv.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|message| message.contains("dotless"))
    };
    wait::until(&scene.api(), "wrong.v1.0.0", "name its malformed CRD", explained).await?;
    Ok(())
}

/// A bundle that holds no CSV breaks neither its catalog nor the other one.
pub async fn a_malformed_bundle(scene: Arc<Scene>) -> Result<()> {
    let small = |name: &str| {
        let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
        Package::single(name, Bundle::new("1.0.0", &csv))
    };
    let mixed = CatalogDir::of(&[small("neighbour")])?;
    mixed.add_file("broken/catalog.json", &broken_package())?;
    scene.operator_group().await?;
    scene.serve("mixed", mixed).await?;
    scene.catalog("sound", &[small("elsewhere")]).await?;
    scene.subscribe("neighbour", "mixed").await?;
    scene.subscribe("elsewhere", "sound").await?;
    scene.succeeded("neighbour.v1.0.0").await?;
    scene.succeeded("elsewhere.v1.0.0").await?;
    let mixed: CatalogSource = scene.api().get("mixed").await?;
    ensure!(mixed.status.is_some(), "the catalog has no status");
    Ok(())
}

/// Valid as a catalog; its one manifest is not what anybody can install.
fn broken_package() -> String {
    let crd = Crd::new("broken.example.com", "v1", "Shard");
    let blobs = [
        json!({"schema": "olm.package", "name": "broken", "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "package": "broken", "name": "stable",
            "entries": [{"name": "broken.v1.0.0"}]}),
        json!({"schema": "olm.bundle", "package": "broken", "name": "broken.v1.0.0",
        "properties": [
            {"type": "olm.package", "value": {"packageName": "broken", "version": "1.0.0"}},
            {"type": "olm.gvk", "value": crd.gvk()},
            {"type": "olm.bundle.object", "value": {"data": STANDARD.encode("{\"kind\": 7}")}},
        ]}),
    ];
    blobs.iter().map(|blob| format!("{blob}\n")).collect()
}
