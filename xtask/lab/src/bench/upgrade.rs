//! From a catalog with a newer version of one package to its Succeeded CSV.
//!
//! The time begins when the server of the old catalog ends, as with a new pod behind a Service.

use std::time::Duration;

use anyhow::Result;
use kube::api::Api;
use olm_testkit::builders::{CatalogDir, Package};
use olm_testkit::fixture::{self, Fixture};
use olm_testkit::wait;
use olm_types::api::ClusterServiceVersion;
use tokio::time::Instant;

use super::versions::{CATALOG, begin, bundle, memory, name, succeeded};

const OLD: &str = "1.0.0";
const NEW: &str = "1.1.0";

/// Installs all packages, then upgrades one after the other.
pub(super) async fn measure(fixture: &Fixture, count: usize) -> Result<Vec<Duration>> {
    begin(fixture, &catalog(count, 0)).await?;
    for number in 0..count {
        let name = name(number);
        fixture::namespace(&fixture.client, &name).await?;
        fixture::subscribe(&fixture.client, &name, &name, CATALOG).await?;
        succeeded(fixture, &name, OLD).await?;
    }
    let mut times = Vec::new();
    for number in 0..count {
        let (name, newer) = (name(number), catalog(count, number + 1));
        let started = Instant::now();
        fixture.publish(CatalogDir::of(&newer)?)?;
        succeeded(fixture, &name, NEW).await?;
        times.push(started.elapsed());
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(fixture.client.clone(), &name);
        wait::until_gone(&csvs, &format!("{name}.v{OLD}")).await?;
    }
    memory(fixture);
    Ok(times)
}

/// Every package, the first `newer` of them with a newer version.
fn catalog(count: usize, newer: usize) -> Vec<Package> {
    let package = |number| {
        let name = name(number);
        let old = bundle(number, OLD);
        let new = bundle(number, NEW).replaces(&format!("{name}.v{OLD}"));
        let versions = if number < newer { vec![old, new] } else { vec![old] };
        Package::new(&name).channel("stable", versions)
    };
    (0..count).map(package).collect()
}
