//! Everything that was asked for is taken back.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, Subscription};

use super::operators;
use crate::crash::scenario::Scenario;
use crate::crash::scene::Scene;

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

    fn before<'a>(&'a self, scene: &'a Scene) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            scene.operator_group().await?;
            scene.catalog("kitchen", "kitchen").await?;
            scene.subscribe("kettle", "kitchen").await?;
            scene.succeeded("cup.v1.0.0").await?;
            scene.succeeded("kettle.v1.0.0").await?;
            scene.at_latest("kettle", "kettle.v1.0.0").await?;
            scene.at_latest(&scene.generated("cup", "kitchen"), "cup.v1.0.0").await
        }))
    }

    async fn steps(&self, scene: &Scene) -> Result<()> {
        scene.delete::<Subscription>("kettle").await?;
        scene.delete::<ClusterServiceVersion>("kettle.v1.0.0").await?;
        scene.csv_gone("kettle.v1.0.0").await?;
        scene.deployment_gone("kettle-manager").await?;
        scene.delete::<Subscription>(&scene.generated("cup", "kitchen")).await?;
        scene.delete::<ClusterServiceVersion>("cup.v1.0.0").await?;
        scene.csv_gone("cup.v1.0.0").await?;
        scene.deployment_gone("cup-manager").await?;
        scene.delete::<CatalogSource>("kitchen").await?;
        scene.delete::<OperatorGroup>("group").await
    }
}
