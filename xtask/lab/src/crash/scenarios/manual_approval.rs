//! An InstallPlan that waits for a person.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct ManualApproval;

#[async_trait]
impl Scenario for ManualApproval {
    fn name(&self) -> &'static str {
        "manual-approval"
    }

    fn about(&self) -> &'static str {
        "an InstallPlan waits until a person approves it"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", vec![Package::single("kettle", operators::kettle("1.0.0"))])]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.operator_group().await?;
        ctx.catalog("kitchen", "kitchen").await?;
        ctx.subscribe_manually("kettle", "kitchen").await?;
        ctx.approve("kettle").await?;
        ctx.succeeded("kettle.v1.0.0").await?;
        ctx.at_latest("kettle", "kettle.v1.0.0").await
    }
}
