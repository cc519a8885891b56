//! An OperatorGroup whose operators are installed with the rights of a ServiceAccount.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct ScopedAccount;

#[async_trait]
impl Scenario for ScopedAccount {
    fn name(&self) -> &'static str {
        "scoped-account"
    }

    fn about(&self) -> &'static str {
        "an operator is installed with the rights of an account that gets them late"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", vec![Package::single("spoon", operators::spoon())])]
    }

    fn before<'a>(&'a self, ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            ctx.scoped_group("installer").await?;
            ctx.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.subscribe("spoon", "kitchen").await?;
        ctx.some_plan("miss its account", |reported| reported.contains("sa=installer")).await?;
        ctx.account("installer").await?;
        ctx.some_plan("lack rights", |reported| reported.contains("cannot create resource"))
            .await?;
        ctx.allow_everything("installer").await?;
        ctx.succeeded("spoon.v1.0.0").await?;
        ctx.at_latest("spoon", "spoon.v1.0.0").await
    }
}
