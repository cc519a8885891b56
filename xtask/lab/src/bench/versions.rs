//! What the figures of installs and upgrades share: packages, and what is waited for.

use anyhow::Result;
use kube::api::Api;
use olm_testkit::builders::{Bundle, CatalogDir, Crd, Package, csv};
use olm_testkit::fixture::Fixture;
use olm_testkit::process::Running;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::json;

/// The CatalogSource.
pub(super) const CATALOG: &str = "bench";

/// Starts both operators and serves these packages.
pub(super) async fn begin(fixture: &Fixture, packages: &[Package]) -> Result<()> {
    let address = fixture.serve(CATALOG, CatalogDir::of(packages)?)?;
    fixture.start_operators().await?;
    fixture.add_catalog(CATALOG, &address).await
}

/// Waits until a version of a package has succeeded, in the namespace of its name.
pub(super) async fn succeeded(fixture: &Fixture, name: &str, version: &str) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(fixture.client.clone(), name);
    let csv = format!("{name}.v{version}");
    let done = wait::until(&csvs, &csv, "be Succeeded", |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    });
    let done = done.await;
    // A dead operator explains a failure better than what was waited for.
    fixture.check().and(done.map(drop))
}

/// Says what the processes need.
pub(super) fn memory(fixture: &Fixture) {
    let of = |process: &Running| (process.record().name.clone(), process.resident_memory());
    for (name, memory) in fixture.processes(of) {
        let mib = memory.unwrap_or_default() as f64 / f64::from(1 << 20);
        println!("{name:<24} {mib:.1} MiB resident");
    }
}

/// Name of a package.
pub(super) fn name(number: usize) -> String {
    format!("bench-{number}")
}

/// A version of an operator with a kind, a Deployment and rights.
pub(super) fn bundle(number: usize, version: &str) -> Bundle {
    let name = name(number);
    let crd = Crd::new(&format!("{name}.example.com"), "v1", "Thing");
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let csv = csv(&format!("{name}.v{version}"), version)
        .owns(&crd)
        .deployment(&name, &name)
        .permission(&name, rules.clone())
        .cluster_permission(&name, rules);
    Bundle::new(version, &csv).provides(&crd)
}
