//! Plays `house-olm` on a real API server: both operators are that one program.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::builders::{Bundle, CatalogDir, Package, csv};
use olm_testkit::fixture::{self, Fixture, FixturePaths};
use olm_testkit::operators::Operator;
use olm_testkit::progress::Progress;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::json;

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
    let (places, silent) = (FixturePaths::of(folder.path(), None), Progress::new(|_| {}));
    let fixture = Fixture::start("examples", &places, silent).await?;
    fixture.start_operators().await?;
    let played = story(&fixture).await;
    // A dead operator explains a failure better than what was waited for.
    let played = fixture.check().and(played);
    fixture.end().await.and(played)
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

async fn story(fixture: &Fixture) -> Result<()> {
    let address = fixture.serve(CATALOG, CatalogDir::of(&devices())?)?;
    fixture.add_catalog(CATALOG, &address).await?;
    fixture::namespace(&fixture.client, NAMESPACE).await?;
    fixture::subscribe(&fixture.client, NAMESPACE, "camera", CATALOG).await?;

    let csvs: Api<ClusterServiceVersion> = Api::namespaced(fixture.client.clone(), NAMESPACE);
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
