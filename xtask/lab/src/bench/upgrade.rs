//! From a catalog with a newer version of one package to its Succeeded CSV.
//!
//! The time begins when the server of the old catalog ends, as with a new pod behind a Service.

use std::time::Duration;

use anyhow::Result;
use olm_testkit::builders::Package;
use olm_testkit::cluster::local::LocalCluster;
use olm_testkit::operators::Binaries;
use tokio::time::Instant;

use super::stage::{Stage, bundle, name};

const OLD: &str = "1.0.0";
const NEW: &str = "1.1.0";

/// Installs all packages, then upgrades one after the other.
pub(super) async fn measure(
    cluster: &LocalCluster,
    binaries: &Binaries,
    count: usize,
) -> Result<Vec<Duration>> {
    let mut stage = Stage::set(cluster, binaries, &catalog(count, 0)).await?;
    for number in 0..count {
        stage.namespace(&name(number)).await?;
        stage.subscribe(&name(number)).await?;
        stage.succeeded(&name(number), OLD).await?;
    }
    let mut times = Vec::new();
    for number in 0..count {
        let (name, newer) = (name(number), catalog(count, number + 1));
        let started = Instant::now();
        stage.publish(&newer)?;
        stage.succeeded(&name, NEW).await?;
        times.push(started.elapsed());
        stage.gone(&name, OLD).await?;
    }
    stage.strike();
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
