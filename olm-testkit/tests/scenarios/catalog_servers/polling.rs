//! A newer image under the same name: another Pod looks, and takes over.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::DeleteParams;
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, CATALOG_SOURCE_UPDATE};
use serde_json::{Value, json};

use super::steps::{create, pod, report};

const NAME: &str = "shelf";

/// The node says which image runs; here the test does.
pub async fn polling(ctx: Arc<TestContext>) -> Result<()> {
    let poll = json!({"registryPoll": {"interval": "3s"}});
    let spec =
        json!({"sourceType": "grpc", "image": "example.com/shelf:v1", "updateStrategy": poll});
    create(&ctx, NAME, spec).await?;
    let first = pod(&ctx, CATALOG_SOURCE, NAME, |_| true).await?.name_any();
    report(&ctx, &first, runs("sha256:old")).await?;
    let looks = pod(&ctx, CATALOG_SOURCE_UPDATE, NAME, |_| true).await?.name_any();
    report(&ctx, &looks, runs("sha256:new")).await?;
    let takes_over = |pod: &Pod| pod.labels().get(CATALOG_SOURCE).is_some_and(|name| name == NAME);
    let serving = wait::until(&ctx.api::<Pod>(), &looks, "serve", takes_over).await?;
    let update = serving.labels().get(CATALOG_SOURCE_UPDATE).context("no update label")?;
    ensure!(update.is_empty(), "it still looks for {update}");
    wait::until_gone(&ctx.api::<Pod>(), &first).await?;
    // Looking again and again is no rest, in which a scenario ends.
    ctx.api::<CatalogSource>().delete(NAME, &DeleteParams::background()).await?;
    wait::until_gone(&ctx.api::<Pod>(), &looks).await
}

fn runs(digest: &str) -> Value {
    let image = format!("example.com/shelf@{digest}");
    json!({"containerStatuses": [{
        "name": "registry-server", "image": "example.com/shelf:v1", "imageID": image,
        "ready": true, "restartCount": 0, "state": {"running": {}},
    }]})
}
