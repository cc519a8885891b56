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
use crate::e2e::Scene;
use crate::{packages, wait};

/// The packages API has no watch, so it is asked so often.
const ASK: Duration = Duration::from_millis(200);

/// Waits for the catalog, finds the package in a namespace that admits restricted Pods only, and
/// installs it there.
pub(super) async fn install(scene: &Scene, csv: &str) -> Result<()> {
    wait::until_connected(&scene.olm_api()?, SHELF).await?;
    packages::until_available(&scene.client).await?;
    shown(scene, Some(csv)).await?;
    scene.restrict().await?;
    scene.operator_group().await?;
    scene.subscribe_to_global("greeter", SHELF).await?;
    scene.at_latest("greeter", csv).await?;
    scene.succeeded(csv).await.map(drop)
}

/// Waits until a newer version of the catalog is installed, and shown.
pub(super) async fn upgrade(scene: &Scene, csv: &str) -> Result<()> {
    scene.at_latest("greeter", csv).await?;
    scene.succeeded(csv).await?;
    shown(scene, Some(csv)).await
}

/// Removes the operator, and then the catalog with its Pods.
pub(super) async fn remove(scene: &Scene, csv: &str) -> Result<()> {
    let once = DeleteParams::default();
    let subscriptions = scene.api::<Subscription>();
    subscriptions.delete("greeter", &once).await?;
    wait::until_gone(&subscriptions, "greeter").await?;
    let csvs = scene.api::<ClusterServiceVersion>();
    csvs.delete(csv, &once).await?;
    wait::until_gone(&csvs, csv).await?;
    let catalogs = scene.olm_api::<CatalogSource>()?;
    catalogs.delete(SHELF, &once).await?;
    wait::until_gone(&catalogs, SHELF).await?;
    let pods = scene.olm_api::<Pod>()?;
    let ours = ListParams::default().labels(&format!("{CATALOG_SOURCE}={SHELF}"));
    for pod in pods.list(&ours).await? {
        wait::until_gone(&pods, &pod.name_any()).await?;
    }
    shown(scene, None).await
}

/// Waits until the packages API shows this version at the head of the package's channel, or no package.
async fn shown(scene: &Scene, csv: Option<&str>) -> Result<()> {
    let packages: Api<PackageManifest> = scene.api();
    let deadline = Instant::now() + wait::PATIENCE;
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
