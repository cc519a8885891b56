//! Catalogs that every namespace sees, as users have them: a CatalogSource in OLM's own namespace, whose
//! content comes from an image or from a ConfigMap. OLM is what `deploy/` makes of it, so everything
//! that it starts for them has to be let into a namespace with the pod security standard `restricted`.

mod documented;
mod images;
mod lists;
mod path;

use std::sync::Arc;

use anyhow::Result;
use olm_types::api::CatalogSource;
use serde_json::{Value, json};

use super::leftovers::Leftovers;
use super::{NEW, OLD};
use crate::e2e::{Need, Scenario, TestContext, scenario};
use images::Server;

/// The name of the catalog of each scenario.
const SHELF: &str = "shelf";

/// The scenarios of this folder. Every Subscription sees their catalogs, so one is there at a time.
pub(super) fn all() -> Vec<Scenario> {
    let pods = [Need::Containers, Need::Workload, Need::OlmPods];
    let images = [pods.to_vec(), vec![Need::Registry]].concat();
    vec![
        scenario(
            "smoke::a_global_catalog_image",
            "the catalog of docs/install.md is served by its image, polled, and removed",
            a_catalog_image,
        )
        .needs(&images)
        .makes_global_catalogs(),
        scenario(
            "smoke::a_global_catalog_in_an_image",
            "a global catalog is taken out of its image, polled, and removed",
            a_catalog_in_an_image,
        )
        .needs(&images)
        .makes_global_catalogs(),
        scenario(
            "smoke::a_global_config_map",
            "a global catalog in a ConfigMap is served, changes, and is removed",
            a_config_map,
        )
        .needs(&pods)
        .makes_global_catalogs(),
    ]
}

/// The catalog that docs/install.md shows: its image serves it.
async fn a_catalog_image(ctx: Arc<TestContext>) -> Result<()> {
    let server = Server::Itself;
    let image = images::push(&ctx, &["1.0.0"], server).await?;
    let catalog = documented::catalog(SHELF, &image)?;
    from_an_image(&ctx, catalog, server).await
}

/// An image that holds nothing but a catalog, which our own image serves; how its Pod is secured follows
/// from the namespace.
async fn a_catalog_in_an_image(ctx: Arc<TestContext>) -> Result<()> {
    let server = Server::Olm;
    let image = images::push(&ctx, &["1.0.0"], server).await?;
    let spec = json!({
        "sourceType": "grpc",
        "image": image,
        "grpcPodConfig": {"extractContent": {"catalogDir": "/configs"}},
        "updateStrategy": {"registryPoll": {"interval": "5s"}},
    });
    let catalog = json!({"metadata": {"name": SHELF}, "spec": spec});
    from_an_image(&ctx, catalog, server).await
}

/// Bundles are in images, too. The newer catalog has the name of the older one.
async fn from_an_image(ctx: &TestContext, catalog: Value, server: Server) -> Result<()> {
    let before = Leftovers::of(ctx).await?;
    ctx.create_for_all::<CatalogSource>(catalog).await?;
    path::install(ctx, OLD).await?;
    super::greeter::answers(ctx, "1.0.0").await?;
    images::is_unpacked(ctx, "1.0.0").await?;
    images::push(ctx, &["1.0.0", "2.0.0"], server).await?;
    path::upgrade(ctx, NEW).await?;
    super::greeter::answers(ctx, "2.0.0").await?;
    path::remove(ctx, NEW).await?;
    before.are_all(ctx).await
}

/// The ConfigMap is in OLM's namespace as well, gets a newer version, and goes with the catalog, which
/// owns it.
async fn a_config_map(ctx: Arc<TestContext>) -> Result<()> {
    let before = Leftovers::of(&ctx).await?;
    lists::create(&ctx, &["1.0.0"]).await?;
    let spec = json!({"sourceType": "configmap", "configMap": SHELF});
    let catalog = json!({"metadata": {"name": SHELF}, "spec": spec});
    ctx.create_for_all::<CatalogSource>(catalog).await?;
    path::install(&ctx, OLD).await?;
    lists::replace(&ctx, &["1.0.0", "2.0.0"]).await?;
    path::upgrade(&ctx, NEW).await?;
    path::remove(&ctx, NEW).await?;
    before.are_all(&ctx).await
}
