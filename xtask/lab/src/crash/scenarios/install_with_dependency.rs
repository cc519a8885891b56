//! From a Subscription to two running operators: the one that was asked for and what it needs.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct InstallWithDependency;

#[async_trait]
impl Scenario for InstallWithDependency {
    fn name(&self) -> &'static str {
        "install-with-dependency"
    }

    fn about(&self) -> &'static str {
        "a Subscription installs an operator and another one that it requires"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", operators::kettle_and_cup())]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.operator_group().await?;
        ctx.catalog("kitchen", "kitchen").await?;
        ctx.subscribe("kettle", "kitchen").await?;
        ctx.succeeded("cup.v1.0.0").await?;
        ctx.succeeded("kettle.v1.0.0").await?;
        ctx.at_latest("kettle", "kettle.v1.0.0").await?;
        ctx.at_latest(&ctx.generated("cup", "kitchen"), "cup.v1.0.0").await
    }
}
