//! From a Subscription to two running operators: the one that was asked for and what it needs.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::scenario::Scenario;
use crate::crash::scene::Scene;

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

    async fn steps(&self, scene: &Scene) -> Result<()> {
        scene.operator_group().await?;
        scene.catalog("kitchen", "kitchen").await?;
        scene.subscribe("kettle", "kitchen").await?;
        scene.succeeded("cup.v1.0.0").await?;
        scene.succeeded("kettle.v1.0.0").await?;
        scene.at_latest("kettle", "kettle.v1.0.0").await?;
        scene.at_latest(&scene.generated("cup", "kitchen"), "cup.v1.0.0").await
    }
}
