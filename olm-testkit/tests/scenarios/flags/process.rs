//! `--bundle-unpack=process`: the operator pulls bundles itself.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, Patch, PatchParams};
use olm_testkit::e2e::Scene;
use olm_testkit::oci::server::{ImageRegistry, PASSWORD, USER};
use olm_testkit::oci::{self, Image};
use olm_types::api::CatalogSource;
use serde_json::json;

use crate::unpack::{annotate, bundle, check_plan, plan, reported, subscribe};

/// From a registry that wants the credentials in a pull secret of the CatalogSource; without them it
/// says so, and goes on when they are there.
pub async fn pulls_bundles(scene: Arc<Scene>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let open = ImageRegistry::start(folder.path(), false).await?;
    let pushed = oci::push(&image(&scene)?, open.address(), "a/kettle", "v1").await?;
    let guarded = ImageRegistry::start(folder.path(), true).await?;
    let reference = pushed.pinned().replace(open.address(), guarded.address());
    scene.operator_group().await?;
    annotate(&scene, json!({"operatorframework.io/bundle-unpack-min-retry-interval": "1s"}))
        .await?;
    subscribe(&scene, "kettle.v1.0.0", &reference).await?;
    let v0 = "Bundle unpacking failed - ImageUnauthorized: the registry refuses ";
    reported(&scene, "BundleUnpackFailed", |text| text.starts_with(v0)).await?;
    give_secret(&scene, &guarded).await?;
    check_plan(&plan(&scene).await?)?;
    scene.succeeded("kettle.v1.0.0").await?;
    let jobs = scene.api::<Job>().list(&ListParams::default()).await?;
    ensure!(jobs.items.is_empty(), "there is a Job");
    Ok(())
}

async fn give_secret(scene: &Scene, registry: &ImageRegistry) -> Result<()> {
    let auths = json!({"auths": {registry.address(): {"username": USER, "password": PASSWORD}}});
    let secret = json!({
        "metadata": {"name": "pull"}, "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": auths.to_string()},
    });
    scene.create::<Secret>(&serde_json::from_value(secret)?).await?;
    let secrets = Patch::Merge(json!({"spec": {"secrets": ["pull"]}}));
    let catalogs: Api<CatalogSource> = scene.api();
    catalogs.patch("kitchen", &PatchParams::default(), &secrets).await?;
    Ok(())
}

/// The bundle as an image.
fn image(scene: &Scene) -> Result<Image> {
    let files = bundle(scene, "kettle.v1.0.0").files("kettle");
    let image = files
        .into_iter()
        .fold(Image::builder(), |image, (path, text)| image.file(&format!("/{path}"), text, 0o644));
    image.build()
}
