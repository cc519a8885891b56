//! Two replicas of our operator that serve, and a client of both, when the leader is killed.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use olm_testkit::catalog_reader::{Reader, Reads};
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::wait;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::catalogs::{Catalogs, name, sources};
use super::measure::recorded_port;

/// More than until another replica is the leader.
const AFTERWARDS: Duration = Duration::from_secs(20);

/// Seconds between looks for a newer image.
const INTERVAL: u32 = 15;

/// What a client saw.
pub(super) struct Killed(Reads);

impl fmt::Display for Killed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reads { reads, failed, refused } = self.0;
        write!(
            f,
            "leader of two replicas killed: {failed} of {reads} reads failed, {refused} connections \
             to the one that was killed were refused and made to the other one"
        )
    }
}

/// Kills the leader while a client reads from both in turn.
pub(super) async fn killed(catalogs: &Catalogs, binaries: &Path) -> Result<Killed> {
    let places = FixturePaths::of(binaries, None);
    let fixture = Fixture::start("bench-leader", &places, Progress::to_stderr()).await?;
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let mut leader = replica(&fixture, &folder, 1).await?;
    catalogs.create(&fixture.client, 0, INTERVAL).await?;
    wait::until_connected(&sources(&fixture.client), &name(0)).await?;
    let port = recorded_port(&fixture.client).await?;
    let other = replica(&fixture, &folder, 2).await?;
    let both = [1, 2].map(|number| SocketAddr::new(address(number), port));
    for address in both {
        let connect = || TcpStream::connect(address);
        wait::until_ok("serves the catalog", connect).await?;
    }
    let reader = Reader::start(&fixture.binaries, "reader", &both).await?;
    leader.kill();
    sleep(AFTERWARDS).await;
    let reads = reader.end().await?;
    other.stop();
    fixture.end().await?;
    Ok(Killed(reads))
}

async fn replica(fixture: &Fixture, folder: &TempDir, number: u8) -> Result<Running> {
    let dir = folder.path().join(number.to_string());
    let args = vec![
        LEADER_ELECT.to_owned(),
        "--catalogs=process".to_owned(),
        format!("--catalogs-dir={}", dir.display()),
        format!("--catalogs-address={}", address(number)),
    ];
    let special =
        StartOptions { log: format!("catalog-operator-{number}"), args, ..StartOptions::default() };
    let operator = Operator::Catalog;
    let started = fixture.binaries.operator(operator, &fixture.kubeconfig, special).await?;
    let (running, admin) = started;
    admin.until_ready().await?;
    Ok(running)
}

fn address(number: u8) -> IpAddr {
    IpAddr::from([127, 214, 1, number])
}
