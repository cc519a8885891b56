//! From a new Subscription to a Succeeded CSV.

use std::time::Duration;

use anyhow::Result;
use olm_testkit::builders::Package;
use olm_testkit::cluster::local::LocalCluster;
use olm_testkit::operators::Binaries;
use tokio::time::Instant;

use super::stage::{Stage, bundle, name};

/// Installs packages one after the other.
pub(super) async fn measure(
    cluster: &LocalCluster,
    binaries: &Binaries,
    count: usize,
) -> Result<Vec<Duration>> {
    let package = |number| Package::single(&name(number), bundle(number, "1.0.0"));
    let packages: Vec<Package> = (0..count).map(package).collect();
    let mut stage = Stage::set(cluster, binaries, &packages).await?;
    let mut times = Vec::new();
    for number in 0..count {
        let name = name(number);
        stage.namespace(&name).await?;
        let started = Instant::now();
        stage.subscribe(&name).await?;
        stage.succeeded(&name, "1.0.0").await?;
        times.push(started.elapsed());
    }
    stage.strike();
    Ok(times)
}
