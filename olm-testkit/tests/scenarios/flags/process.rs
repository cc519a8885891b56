//! `--bundle-unpack=process`: the operator pulls bundles itself.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, Patch, PatchParams};
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::server::{ImageRegistry, PASSWORD, USER};
use olm_testkit::oci::{self, Image};
use olm_types::api::CatalogSource;
use serde_json::json;

use crate::unpack::{annotate, bundle, check_plan, plan, reported, subscribe};

/// From a registry that wants the credentials in a pull secret of the CatalogSource; without them it
/// says so, and goes on when they are there.
pub async fn pulls_bundles(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let open = ImageRegistry::start(folder.path(), false).await?;
    let pushed = oci::push(&image(&ctx)?, open.address(), "a/kettle", "v1").await?;
    let guarded = ImageRegistry::start(folder.path(), true).await?;
    let reference = pushed.pinned().replace(open.address(), guarded.address());
    ctx.operator_group().await?;
    annotate(&ctx, json!({"operatorframework.io/bundle-unpack-min-retry-interval": "1s"})).await?;
    subscribe(&ctx, "kettle.v1.0.0", &reference).await?;
    let v0 = "Bundle unpacking failed - ImageUnauthorized: the registry refuses ";
    reported(&ctx, "BundleUnpackFailed", |text| text.starts_with(v0)).await?;
    give_secret(&ctx, &guarded).await?;
    check_plan(&plan(&ctx).await?)?;
    ctx.succeeded("kettle.v1.0.0").await?;
    let jobs = ctx.api::<Job>().list(&ListParams::default()).await?;
    ensure!(jobs.items.is_empty(), "there is a Job");
    Ok(())
}

async fn give_secret(ctx: &TestContext, registry: &ImageRegistry) -> Result<()> {
    let auths = json!({"auths": {registry.address(): {"username": USER, "password": PASSWORD}}});
    let secret = json!({
        "metadata": {"name": "pull"}, "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": auths.to_string()},
    });
    ctx.create::<Secret>(&serde_json::from_value(secret)?).await?;
    let secrets = Patch::Merge(json!({"spec": {"secrets": ["pull"]}}));
    let catalogs: Api<CatalogSource> = ctx.api();
    catalogs.patch("kitchen", &PatchParams::default(), &secrets).await?;
    Ok(())
}

/// The bundle as an image.
fn image(ctx: &TestContext) -> Result<Image> {
    let files = bundle(ctx, "kettle.v1.0.0").files("kettle");
    let image = files
        .into_iter()
        .fold(Image::builder(), |image, (path, text)| image.file(&format!("/{path}"), text, 0o644));
    image.build()
}
