//! From a new Subscription to a Succeeded CSV.

use std::time::Duration;

use anyhow::Result;
use olm_testkit::builders::Package;
use olm_testkit::fixture::{self, Fixture};
use tokio::time::Instant;

use super::versions::{CATALOG, begin, bundle, memory, name, succeeded};

/// Installs packages one after the other.
pub(super) async fn measure(fixture: &Fixture, count: usize) -> Result<Vec<Duration>> {
    let package = |number| Package::single(&name(number), bundle(number, "1.0.0"));
    let packages: Vec<Package> = (0..count).map(package).collect();
    begin(fixture, &packages).await?;
    let mut times = Vec::new();
    for number in 0..count {
        let name = name(number);
        fixture::namespace(&fixture.client, &name).await?;
        let started = Instant::now();
        fixture::subscribe(&fixture.client, &name, &name, CATALOG).await?;
        succeeded(fixture, &name, "1.0.0").await?;
        times.push(started.elapsed());
    }
    memory(fixture);
    Ok(times)
}
