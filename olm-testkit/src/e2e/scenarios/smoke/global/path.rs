//! What a user does with an operator of a global catalog: finds it, installs it, has it upgraded, and
//! removes it and the catalog.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::api::{CatalogSource, ClusterServiceVersion, PackageManifest, Subscription};
use olm_types::labels::CATALOG_SOURCE;
use tokio::time::{Duration, Instant, sleep};

use super::SHELF;
use crate::e2e::TestContext;
use crate::{packages, wait};

/// The packages API has no watch, so it is asked so often.
const ASK: Duration = Duration::from_millis(200);

/// Waits for the catalog, finds the package in a namespace that admits restricted Pods only, and
/// installs it there.
pub(super) async fn install(ctx: &TestContext, csv: &str) -> Result<()> {
    wait::until_connected(&ctx.olm_api()?, SHELF).await?;
    packages::until_available(&ctx.client).await?;
    shown(ctx, Some(csv)).await?;
    ctx.restrict().await?;
    ctx.operator_group().await?;
    ctx.subscribe_to_global("greeter", SHELF).await?;
    ctx.at_latest("greeter", csv).await?;
    ctx.succeeded(csv).await.map(drop)
}

/// Waits until a newer version of the catalog is installed, and shown.
pub(super) async fn upgrade(ctx: &TestContext, csv: &str) -> Result<()> {
    ctx.at_latest("greeter", csv).await?;
    ctx.succeeded(csv).await?;
    shown(ctx, Some(csv)).await
}

/// Removes the operator, and then the catalog with its Pods.
pub(super) async fn remove(ctx: &TestContext, csv: &str) -> Result<()> {
    let once = DeleteParams::default();
    let subscriptions = ctx.api::<Subscription>();
    subscriptions.delete("greeter", &once).await?;
    wait::until_gone(&subscriptions, "greeter").await?;
    let csvs = ctx.api::<ClusterServiceVersion>();
    csvs.delete(csv, &once).await?;
    wait::until_gone(&csvs, csv).await?;
    let catalogs = ctx.olm_api::<CatalogSource>()?;
    catalogs.delete(SHELF, &once).await?;
    wait::until_gone(&catalogs, SHELF).await?;
    let pods = ctx.olm_api::<Pod>()?;
    let ours = ListParams::default().labels(&format!("{CATALOG_SOURCE}={SHELF}"));
    for pod in pods.list(&ours).await? {
        wait::until_gone(&pods, &pod.name_any()).await?;
    }
    shown(ctx, None).await
}

/// Waits until the packages API shows this version at the head of the package's channel, or no package.
async fn shown(ctx: &TestContext, csv: Option<&str>) -> Result<()> {
    let packages: Api<PackageManifest> = ctx.api();
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        let package = packages.get_opt("greeter").await?;
        let head = package.as_ref().map(head);
        if head == csv.map(str::to_owned) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{head:?} is shown, and {csv:?} should be");
        sleep(ASK).await;
    }
}

fn head(package: &PackageManifest) -> String {
    let channels = package.status.iter().flat_map(|status| &status.channels);
    channels.map(|channel| channel.current_csv.as_str()).collect()
}
