//! The catalog brings a newer version, whose kind is served and stored in one more version.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::{Bundle, Package};

use super::operators;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct UpgradeWithCrdChange;

#[async_trait]
impl Scenario for UpgradeWithCrdChange {
    fn name(&self) -> &'static str {
        "upgrade-with-crd-change"
    }

    fn about(&self) -> &'static str {
        "a newer version in the catalog replaces the installed one and extends its kind"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        let old = operators::kettle("1.0.0");
        let kind = operators::kettles().and_version("v2");
        let csv = operators::operator("kettle", "1.1.0", &kind).replaces("kettle.v1.0.0");
        let new = Bundle::new("1.1.0", &csv).replaces("kettle.v1.0.0").provides(&kind);
        let package = |bundles| vec![Package::new("kettle").channel("stable", bundles)];
        vec![("old", package(vec![old.clone()])), ("new", package(vec![old, new]))]
    }

    fn before<'a>(&'a self, ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            ctx.operator_group().await?;
            ctx.catalog("kitchen", "old").await?;
            ctx.subscribe("kettle", "kitchen").await?;
            ctx.succeeded("kettle.v1.0.0").await?;
            ctx.at_latest("kettle", "kettle.v1.0.0").await
        }))
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.move_catalog("kitchen", "new").await?;
        ctx.succeeded("kettle.v1.1.0").await?;
        ctx.csv_gone("kettle.v1.0.0").await?;
        ctx.at_latest("kettle", "kettle.v1.1.0").await
    }
}
