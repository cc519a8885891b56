//! What is wrong with one object is said at that object, and nothing else suffers.

use std::sync::Arc;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde_json::json;

use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::{TestContext, conditions};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "bad_input::a_large_csv",
            "a CSV of nearly the size that etcd takes installs",
            a_large_csv,
        ),
        scenario(
            "bad_input::a_crd_without_a_dot",
            "a CSV names its malformed CRD, its neighbour installs",
            a_crd_without_a_dot,
        ),
        scenario(
            "bad_input::a_malformed_bundle",
            "a CSV that cannot be read breaks neither its catalog nor others",
            a_malformed_bundle,
        ),
        scenario(
            "bad_input::a_broken_catalog",
            "a catalog that cannot be served takes nothing from others",
            a_broken_catalog,
        ),
    ]
}

/// A CSV of nearly the size that etcd takes installs like any other.
async fn a_large_csv(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let large = csv("large.v1.0.0", "1.0.0")
        .deployment("large", "default")
        .description("All work and no play. ".repeat(900_000 / 22));
    ctx.create(&large.build()).await?;
    ctx.succeeded("large.v1.0.0").await.map(drop)
}

/// An owned CRD whose name cannot be one: the CSV says which, its neighbour installs.
async fn a_crd_without_a_dot(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let wrong = csv("wrong.v1.0.0", "1.0.0").deployment("wrong", "default").with(|csv| {
        let crds = csv.spec.customresourcedefinitions.get_or_insert_default();
        crds.owned.push(olm_types::api::CrdDescription {
            name: "dotless".to_owned(),
            version: "v1".to_owned(),
            kind: "Dotless".to_owned(),
            ..Default::default()
        });
    });
    ctx.create(&wrong.build()).await?;
    ctx.create(&csv("right.v1.0.0", "1.0.0").deployment("right", "default").build()).await?;
    ctx.succeeded("right.v1.0.0").await?;
    let explained = |csv: &ClusterServiceVersion| {
        let message = csv.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|message| message.contains("dotless"))
    };
    wait::until(&ctx.api(), "wrong.v1.0.0", "name its malformed CRD", explained).await?;
    Ok(())
}

/// A bundle whose CSV cannot be read breaks neither its catalog nor the other one, and who
/// subscribes to it reads why.
async fn a_malformed_bundle(ctx: Arc<TestContext>) -> Result<()> {
    let mixed = ctx.content(&[small("neighbour")])?;
    mixed.add_file("broken/catalog.json", &broken_package())?;
    ctx.operator_group().await?;
    ctx.serve("mixed", mixed).await?;
    ctx.catalog("sound", &[small("elsewhere")]).await?;
    ctx.subscribe("neighbour", "mixed").await?;
    ctx.subscribe("elsewhere", "sound").await?;
    ctx.succeeded("neighbour.v1.0.0").await?;
    ctx.succeeded("elsewhere.v1.0.0").await?;
    ctx.subscribe("broken", "mixed").await?;
    wait::until(&ctx.api(), "broken", "say what is wrong", |subscription: &Subscription| {
        let mut problems = conditions(subscription).iter().filter(|c| c.status == "True");
        problems.any(|c| c.message.as_deref().is_some_and(|text| text.contains("broken.v1.0.0")))
    })
    .await?;
    Ok(())
}

/// A catalog that cannot be served takes nothing from those who want something else.
async fn a_broken_catalog(ctx: Arc<TestContext>) -> Result<()> {
    let broken = ctx.content(&[])?;
    broken.add_file("catalog.yaml", "schema: olm.package\n\tname: [")?;
    ctx.operator_group().await?;
    ctx.serve("broken", broken).await?;
    ctx.catalog("sound", &[small("elsewhere")]).await?;
    ctx.subscribe("elsewhere", "sound").await?;
    ctx.succeeded("elsewhere.v1.0.0").await.map(drop)
}

fn small(name: &str) -> Package {
    let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
    Package::single(name, Bundle::new("1.0.0", &csv))
}

/// Valid as a catalog; its CSV says that its Deployments are the number 7.
fn broken_package() -> String {
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "broken.v1.0.0"},
        "spec": {"install": {"strategy": "deployment", "spec": {"deployments": 7}}},
    });
    let blobs = [
        json!({"schema": "olm.package", "name": "broken", "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "package": "broken", "name": "stable",
            "entries": [{"name": "broken.v1.0.0"}]}),
        json!({"schema": "olm.bundle", "package": "broken", "name": "broken.v1.0.0",
        "properties": [
            {"type": "olm.package", "value": {"packageName": "broken", "version": "1.0.0"}},
            {"type": "olm.bundle.object", "value": {"data": STANDARD.encode(csv.to_string())}},
        ]}),
    ];
    blobs.iter().map(|blob| format!("{blob}\n")).collect()
}
