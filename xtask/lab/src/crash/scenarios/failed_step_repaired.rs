//! A step of an InstallPlan meets an object that it cannot change, until a person removes that.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ConfigMap;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct FailedStepRepaired;

#[async_trait]
impl Scenario for FailedStepRepaired {
    fn name(&self) -> &'static str {
        "failed-step-repaired"
    }

    fn about(&self) -> &'static str {
        "a step fails until a person removes what stands in its way"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", vec![Package::single("spoon", operators::spoon())])]
    }

    fn before<'a>(&'a self, ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            ctx.operator_group().await?;
            ctx.immutable_config_map("spoon").await?;
            ctx.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.subscribe("spoon", "kitchen").await?;
        let blocked = |reported: &str| reported.contains("error updating configmap: spoon");
        ctx.some_plan("be blocked", blocked).await?;
        ctx.delete::<ConfigMap>("spoon").await?;
        ctx.succeeded("spoon.v1.0.0").await?;
        ctx.at_latest("spoon", "spoon.v1.0.0").await
    }
}
