//! `--unhealthy-catalogs=block`: while one catalog is away, its namespace resolves nothing, as in v0.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::api::{Api, ListParams};
use olm_testkit::builders::{Bundle, Package, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, InstallPlan};
use olm_types::conditions::catalog_source::CONTENT_CURRENT;

/// No Subscription gets anything, also those to another catalog, and each says why. All goes on
/// when the catalog is back.
pub async fn stops_a_namespace(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("shelf", &[package("early")]).await?;
    ctx.catalog("table", &[package("other")]).await?;
    ctx.subscribe("early", "shelf").await?;
    ctx.at_latest("early", "early.v1.0.0").await?;
    ctx.catalog_dies("shelf").await?;
    not_in_use(&ctx).await?;
    ctx.subscribe("other", "table").await?;
    let condition =
        ctx.condition("other", "ResolutionFailed", "True", "ErrorPreventedResolution").await?;
    let message = condition.message.unwrap_or_default();
    let cause = format!("error using catalogsource {}/shelf: ", ctx.namespace);
    ensure!(message.starts_with(&cause), "{message:?}");
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?;
    ensure!(plans.items.len() == 1, "there are {} plans", plans.items.len());
    ctx.catalog_returns("shelf").await?;
    ctx.at_latest("other", "other.v1.0.0").await?;
    ctx.at_latest("early", "early.v1.0.0").await.map(drop)
}

/// The status of the catalog says that what was read of it is not used.
async fn not_in_use(ctx: &TestContext) -> Result<()> {
    let catalogs: Api<CatalogSource> = ctx.api();
    let end = "(--unhealthy-catalogs=block)";
    wait::until(&catalogs, "shelf", "say that it blocks", |catalog: &CatalogSource| {
        let conditions = catalog.status.iter().flat_map(|status| &status.conditions);
        let mut content = conditions.filter(|condition| condition.type_ == CONTENT_CURRENT);
        content.any(|condition| condition.message.ends_with(end))
    })
    .await
    .map(drop)
}

fn package(name: &str) -> Package {
    let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
    Package::single(name, Bundle::new("1.0.0", &csv))
}
