//! An operator that looks after other namespaces, and then after another one.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::scenario::Scenario;
use crate::crash::scene::{NAMESPACE, Scene};

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

    fn before<'a>(&'a self, scene: &'a Scene) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            scene.group_of(&[NAMESPACE, FIRST]).await?;
            scene.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, scene: &Scene) -> Result<()> {
        scene.subscribe("kettle", "kitchen").await?;
        scene.succeeded(CSV).await?;
        scene.copied_to(FIRST, CSV).await?;
        scene.retarget(&[NAMESPACE, SECOND]).await?;
        scene.copied_to(SECOND, CSV).await?;
        scene.copy_gone(FIRST, CSV).await?;
        scene.succeeded(CSV).await?;
        scene.at_latest("kettle", CSV).await
    }
}
