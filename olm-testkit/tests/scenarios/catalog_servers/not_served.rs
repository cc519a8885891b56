//! Catalog images that no Pod serves, and how a CatalogSource says so.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::labels::CATALOG_SOURCE;
use serde_json::json;

use super::steps::{create, pod, report};

const NAME: &str = "shelf";

/// A memory target with more digits than a quantity may have, which the definition of the kind lets pass.
const TOO_LONG: &str = "1000000000000000000000000000000000000000";

/// No Pod can be built for the spec; with a better one there is a Pod, whose image cannot be pulled.
pub async fn not_served(ctx: Arc<TestContext>) -> Result<()> {
    let spec = json!({
        "sourceType": "grpc", "image": "example.com/shelf:v1",
        "grpcPodConfig": {"memoryTarget": TOO_LONG},
    });
    create(&ctx, NAME, spec).await?;
    let said = not_ready(&ctx, "RegistryServerError").await?;
    ensure!(said.contains("spec.grpcPodConfig.memoryTarget"), "it says {said:?}");

    let catalogs: Api<CatalogSource> = ctx.api();
    let better = Patch::Merge(json!({"spec": {"grpcPodConfig": {"memoryTarget": "30Mi"}}}));
    catalogs.patch(NAME, &PatchParams::default(), &better).await?;
    let pod = pod(&ctx, CATALOG_SOURCE, NAME, |_| true).await?.name_any();
    let waiting = json!({
        "name": "registry-server", "image": "example.com/shelf:v1", "imageID": "", "ready": false,
        "restartCount": 0, "state": {"waiting": {"reason": "ImagePullBackOff"}},
    });
    let unready = json!([
        {"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "False"},
    ]);
    report(&ctx, &pod, json!({"conditions": unready, "containerStatuses": [waiting]})).await?;
    let said = not_ready(&ctx, "RegistryPodFailing").await?;
    let expected = format!("Pod {pod} cannot pull its image example.com/shelf:v1");
    ensure!(said.contains(&expected), "it says {said:?}");
    Ok(())
}

/// Waits until it is not ready for this reason; what it says then.
async fn not_ready(ctx: &TestContext, reason: &str) -> Result<String> {
    let message = |catalog: &CatalogSource| {
        let mut conditions = catalog.status.iter().flat_map(|status| &status.conditions);
        let ready = conditions.find(|one| one.type_ == "Ready" && one.reason == reason);
        ready.filter(|one| one.status == "False").map(|one| one.message.clone())
    };
    let what = format!("not be ready because of {reason}");
    let says = |catalog: &CatalogSource| message(catalog).is_some();
    let catalog = wait::until(&ctx.api(), NAME, &what, says).await?;
    Ok(message(&catalog).unwrap_or_default())
}
