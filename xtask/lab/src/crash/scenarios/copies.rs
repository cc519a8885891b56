//! An operator that looks after other namespaces, and then after another one.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::context::{NAMESPACE, TestContext};
use crate::crash::scenario::Scenario;

/// Namespaces that every cluster has.
const FIRST: &str = "default";
const SECOND: &str = "kube-public";

const CSV: &str = "kettle.v1.0.0";

pub(super) struct Copies;

#[async_trait]
impl Scenario for Copies {
    fn name(&self) -> &'static str {
        "copies"
    }

    fn about(&self) -> &'static str {
        "an operator is shown, with its rights, in a target namespace, and then in another one"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", vec![Package::single("kettle", operators::kettle("1.0.0"))])]
    }

    fn before<'a>(&'a self, ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            ctx.group_of(&[NAMESPACE, FIRST]).await?;
            ctx.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.subscribe("kettle", "kitchen").await?;
        ctx.succeeded(CSV).await?;
        ctx.copied_to(FIRST, CSV).await?;
        ctx.retarget(&[NAMESPACE, SECOND]).await?;
        ctx.copied_to(SECOND, CSV).await?;
        ctx.copy_gone(FIRST, CSV).await?;
        ctx.succeeded(CSV).await?;
        ctx.at_latest("kettle", CSV).await
    }
}
