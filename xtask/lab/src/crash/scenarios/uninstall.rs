//! Everything that was asked for is taken back.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, Subscription};

use super::operators;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct Uninstall;

#[async_trait]
impl Scenario for Uninstall {
    fn name(&self) -> &'static str {
        "uninstall"
    }

    fn about(&self) -> &'static str {
        "Subscriptions, ClusterServiceVersions, catalog and OperatorGroup are deleted"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", operators::kettle_and_cup())]
    }

    fn before<'a>(&'a self, ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            ctx.operator_group().await?;
            ctx.catalog("kitchen", "kitchen").await?;
            ctx.subscribe("kettle", "kitchen").await?;
            ctx.succeeded("cup.v1.0.0").await?;
            ctx.succeeded("kettle.v1.0.0").await?;
            ctx.at_latest("kettle", "kettle.v1.0.0").await?;
            ctx.at_latest(&ctx.generated("cup", "kitchen"), "cup.v1.0.0").await
        }))
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.delete::<Subscription>("kettle").await?;
        ctx.delete::<ClusterServiceVersion>("kettle.v1.0.0").await?;
        ctx.csv_gone("kettle.v1.0.0").await?;
        ctx.deployment_gone("kettle-manager").await?;
        ctx.delete::<Subscription>(&ctx.generated("cup", "kitchen")).await?;
        ctx.delete::<ClusterServiceVersion>("cup.v1.0.0").await?;
        ctx.csv_gone("cup.v1.0.0").await?;
        ctx.deployment_gone("cup-manager").await?;
        ctx.delete::<CatalogSource>("kitchen").await?;
        ctx.delete::<OperatorGroup>("group").await
    }
}
