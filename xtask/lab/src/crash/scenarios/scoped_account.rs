//! An OperatorGroup whose operators are installed with the rights of a ServiceAccount.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::scenario::Scenario;
use crate::crash::scene::Scene;

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

    fn before<'a>(&'a self, scene: &'a Scene) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            scene.scoped_group("installer").await?;
            scene.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, scene: &Scene) -> Result<()> {
        scene.subscribe("spoon", "kitchen").await?;
        scene.some_plan("miss its account", |reported| reported.contains("sa=installer")).await?;
        scene.account("installer").await?;
        scene
            .some_plan("lack rights", |reported| reported.contains("cannot create resource"))
            .await?;
        scene.allow_everything("installer").await?;
        scene.succeeded("spoon.v1.0.0").await?;
        scene.at_latest("spoon", "spoon.v1.0.0").await
    }
}
