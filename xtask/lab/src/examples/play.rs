//! Plays `house-olm` on a real API server: both operators are that one program.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_testkit::builders::{self, Bundle, CatalogDir, Package, csv};
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use olm_testkit::progress::Progress;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription};
use serde_json::json;

use crate::stage::Stage;

const NAMESPACE: &str = "house";
const CATALOG: &str = "devices";
const REGISTRY: &str = "olm-registry";
const REVIEWED_BY: &str = "example.com/reviewed-by";

/// Plays it with a registry of ours, which is in the folder `registries`.
pub(super) async fn house(program: &Path, registries: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    disguise(program, folder.path())?;
    symlink(registries.join(REGISTRY), folder.path().join(REGISTRY))
        .context("cannot name the registry")?;
    let mut stage = Stage::set("examples", Progress::new(|_| {}), folder.path(), None).await?;
    let played = story(&mut stage).await;
    // A dead operator explains a failure better than what was waited for.
    let played = stage.check().and(played);
    stage.strike().await.and(played)
}

/// Puts the program where the operators are looked for, each with its role.
fn disguise(program: &Path, folder: &Path) -> Result<()> {
    for operator in Operator::ALL {
        let path = folder.join(operator.name());
        let text = format!("#!/bin/sh\nexec '{}' {operator} \"$@\"\n", program.display());
        fs::write(&path, text).context("cannot write a program")?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .context("cannot allow it to run")?;
    }
    Ok(())
}

async fn story(stage: &mut Stage) -> Result<()> {
    let catalog = CatalogDir::of(&devices())?;
    stage.serve(CATALOG, catalog.path()).await?;
    subscribe(&stage.client).await?;

    let csvs: Api<ClusterServiceVersion> = Api::namespaced(stage.client.clone(), NAMESPACE);
    wait::until(&csvs, "driver.v1.0.0", "succeed", has_succeeded).await?;
    println!("house-olm: camera brought driver along, which is built for its architecture");
    let other = csvs.get_opt("driver-intel.v1.0.0").await.context("cannot look for a CSV")?;
    ensure!(other.is_none(), "driver-intel was installed, which is built for another one");

    wait::until(&csvs, "camera.v1.0.0", "wait for its review", |csv| {
        csv.status.as_ref().is_some_and(|status| {
            status.phase == CsvPhase::Pending && status.reason.as_deref() == Some("NotReviewed")
        })
    })
    .await?;
    println!("house-olm: camera waits for its review");
    let review = json!({"metadata": {"annotations": {REVIEWED_BY: "a-reviewer"}}});
    csvs.patch("camera.v1.0.0", &PatchParams::default(), &Patch::Merge(review)).await?;
    wait::until(&csvs, "camera.v1.0.0", "succeed", has_succeeded).await?;
    println!("house-olm: camera was reviewed and has succeeded");
    Ok(())
}

fn has_succeeded(csv: &ClusterServiceVersion) -> bool {
    csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
}

async fn subscribe(client: &Client) -> Result<()> {
    let once = PostParams::default();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&once, &builders::namespace(NAMESPACE)).await?;
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), NAMESPACE);
    groups.create(&once, &builders::operator_group(NAMESPACE, "house", &[NAMESPACE])).await?;
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), NAMESPACE);
    let mut camera = builders::subscription(NAMESPACE, "camera", "stable", CATALOG);
    camera.spec.source_namespace = OLM_NAMESPACE.to_owned();
    subscriptions.create(&once, &camera).await.context("cannot subscribe")?;
    Ok(())
}

/// A camera that asks for arm64, and two drivers. Only the drivers were reviewed.
fn devices() -> [Package; 3] {
    let device = |name: &str, is_reviewed: bool| {
        let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
        let reviewed = (REVIEWED_BY.to_owned(), "a-reviewer".to_owned());
        let annotations = is_reviewed.then(|| [reviewed].into());
        Bundle::new("1.0.0", &csv.with(|csv| csv.metadata.annotations = annotations))
    };
    let camera = device("camera", false).property("example.arch.required", json!("arm64"));
    let driver = |name: &str, arch: &str| {
        Package::single(name, device(name, true).property("example.arch", json!(arch)))
    };
    [Package::single("camera", camera), driver("driver", "arm64"), driver("driver-intel", "amd64")]
}
