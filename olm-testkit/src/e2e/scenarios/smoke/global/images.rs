//! Images of bundles, and of a catalog that names them.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use olm_types::hash::unpack_name;
use serde_json::{Value, json};

use super::super::greeter;
use crate::builders::{Bundle, CatalogDir, Package};
use crate::e2e::TestContext;
use crate::oci::{self, Image, ImageBuilder, Pushed, Reference};

/// Who serves a catalog image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    /// The image: it has `opm`, and starts it.
    Itself,
    /// That of OLM, which takes the catalog out of the image.
    Olm,
}

/// Pushes a catalog with these versions of the greeter, each in an image of its own. Every push gives
/// the same name.
pub(super) async fn push(ctx: &TestContext, versions: &[&str], server: Server) -> Result<String> {
    let mut bundles: Vec<Bundle> = Vec::new();
    for version in versions {
        let image = bundle_image(ctx, version).await?.pinned();
        let bundle = in_image(ctx, version, &image);
        bundles.push(match bundles.last() {
            Some(before) => bundle.replaces(before.name()),
            None => bundle,
        });
    }
    let packages = [Package::new("greeter").channel("stable", bundles)];
    let content = with_catalog(Image::builder(), &ctx.content(&packages)?)?;
    let repository = format!("catalogs/{}", ctx.namespace);
    match server {
        Server::Olm => {
            oci::push(&content.build()?, registry(ctx)?, &repository, "latest").await?;
        }
        Server::Itself => {
            let olm = ctx.facts().olm_image.as_deref().context("no image of OLM is known")?;
            let olm: Reference = olm.parse().context("the image of OLM")?;
            let serves = content.entrypoint(["/bin/opm"]).cmd(["serve", "/configs"]);
            oci::push_on(&olm, &serves.build()?, &repository, "latest").await?;
        }
    }
    Ok(format!("example.com/{repository}:latest"))
}

/// Fails unless a Job in OLM's namespace has unpacked a version.
pub(super) async fn is_unpacked(ctx: &TestContext, version: &str) -> Result<()> {
    let image = bundle_image(ctx, version).await?.pinned();
    let job = ctx.olm_api::<Job>()?.get(&unpack_name(&image)).await;
    let status = job.context("no Job has unpacked the bundle")?.status;
    ensure!(status.is_some_and(|status| status.succeeded == Some(1)), "the Job did not succeed");
    Ok(())
}

/// The same version gives the same image.
async fn bundle_image(ctx: &TestContext, version: &str) -> Result<Pushed> {
    let files = greeter::bundle(ctx, version).files("greeter").into_iter();
    let image = files.fold(Image::builder(), |image, (path, text)| {
        let text = match serde_json::from_str::<Value>(&text) {
            Ok(manifest) => ctx.dressed(manifest).to_string(),
            Err(_) => text,
        };
        image.file(&format!("/{path}"), text, 0o644)
    });
    let repository = format!("bundles/{}", ctx.namespace);
    oci::push(&image.build()?, registry(ctx)?, &repository, &format!("v{version}")).await
}

/// What a catalog says of a bundle in an image: beside the image what people are shown of its CSV.
fn in_image(ctx: &TestContext, version: &str, image: &str) -> Bundle {
    let csv = greeter::version_of(ctx, version).manifest();
    let shown = json!({
        "displayName": csv["spec"]["displayName"],
        "installModes": csv["spec"]["installModes"],
        "crdDescriptions": csv["spec"]["customresourcedefinitions"],
    });
    greeter::bundle(ctx, version).in_image(image).property("olm.csv.metadata", shown)
}

fn with_catalog(image: ImageBuilder, catalog: &CatalogDir) -> Result<ImageBuilder> {
    let file = catalog.path().join("greeter/catalog.json");
    let bytes = std::fs::read(file).context("cannot read a catalog")?;
    Ok(image.file("/configs/greeter/catalog.json", bytes, 0o644))
}

fn registry(ctx: &TestContext) -> Result<&str> {
    ctx.facts().registry.as_deref().context("no registry takes images")
}
