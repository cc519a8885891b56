//! A bundle comes out of its image by a Job, whose Pod is played.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;

use super::operators;
use crate::crash::scenario::Scenario;
use crate::crash::scene::Scene;

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

    fn before<'a>(&'a self, scene: &'a Scene) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            scene.operator_group().await?;
            scene.catalog("kitchen", "kitchen").await
        }))
    }

    async fn steps(&self, scene: &Scene) -> Result<()> {
        let kubelet = scene.kubelet().await?;
        scene.subscribe("kettle", "kitchen").await?;
        let job = scene.unpack_job(IMAGE).await?;
        kubelet.extract(&operators::kettle("1.0.0"), "kettle", IMAGE).await?;
        kubelet.end().await?;
        kubelet.complete(&job).await?;
        scene.succeeded("kettle.v1.0.0").await?;
        scene.at_latest("kettle", "kettle.v1.0.0").await
    }
}
