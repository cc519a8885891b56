//! A bundle comes out of its image by a Job, whose Pod is played.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

/// A reference that is never pulled.
const IMAGE: &str = "bundles.example.com/kettle:v1";

pub(super) struct Unpack;

#[async_trait]
impl Scenario for Unpack {
    fn name(&self) -> &'static str {
        "unpack"
    }

    fn about(&self) -> &'static str {
        "a bundle is unpacked by a Job and installed"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        let bundle = operators::kettle("1.0.0").in_image(IMAGE);
        vec![("kitchen", vec![Package::single("kettle", bundle)])]
    }

    fn before<'a>(&'a self, ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            ctx.operator_group().await?;
            ctx.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        let kubelet = ctx.kubelet().await?;
        ctx.subscribe("kettle", "kitchen").await?;
        let job = ctx.unpack_job(IMAGE).await?;
        kubelet.extract(&operators::kettle("1.0.0"), "kettle", IMAGE).await?;
        kubelet.end().await?;
        kubelet.complete(&job).await?;
        ctx.succeeded("kettle.v1.0.0").await?;
        ctx.at_latest("kettle", "kettle.v1.0.0").await
    }
}
