//! One program, measured.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::StreamExt;
use olm_catalog::registry::proto;
use olm_testkit::peer::ServedCatalog;
use prost::Message;
use proto::registry_client::RegistryClient;
use tokio::time::Instant;
use tonic::transport::{Channel, Endpoint};

use super::figures::Figures;

/// How many bundles are asked for by themselves.
const SINGLE: usize = 2000;

/// How many of them at the same time.
const PARALLEL: usize = 16;

/// Largest answer that is read, in bytes.
const ANSWER: usize = 128 << 20;

/// Starts the program twice over the catalog and asks it for everything.
pub(super) async fn measure(program: &Path, catalog: &Path) -> Result<Figures> {
    let scratch = tempfile::tempdir().context("cannot create a folder for the index")?;
    let cache = scratch.path().join("cache");
    let (served, cold) = start(program, catalog, &cache).await?;
    drop(served);
    let (served, warm) = start(program, catalog, &cache).await?;
    let mut client = connect(served.address()).await?;
    let (bundles, listing) = list(&mut client).await?;
    let pid = served.running().record().pid;
    let (peak, anonymous) = memory(pid)?;
    let getting = get(&client, &bundles, pid).await?;
    let bytes: usize = bundles.iter().map(Message::encoded_len).sum();
    Ok(Figures {
        cold: cold.as_secs_f64(),
        warm: warm.as_secs_f64(),
        peak,
        anonymous,
        listing: bytes as f64 / f64::from(1 << 20) / listing.as_secs_f64(),
        getting: SINGLE as f64 / getting,
    })
}

/// Starts the program; gives the time until its first answer.
async fn start(program: &Path, catalog: &Path, cache: &Path) -> Result<(ServedCatalog, Duration)> {
    let served = ServedCatalog::start(program, catalog, Some(cache))?;
    let mut client = connect(served.address()).await?;
    let packages = client.list_packages(proto::ListPackageRequest {}).await?;
    packages.into_inner().next().await.context("the catalog is empty")??;
    let time = served.started().elapsed();
    Ok((served, time))
}

async fn connect(address: SocketAddr) -> Result<RegistryClient<Channel>> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
    Ok(RegistryClient::new(endpoint.connect().await?).max_decoding_message_size(ANSWER))
}

/// Everything that is listed; the time is that of a second listing, when both sides are warm.
async fn list(client: &mut RegistryClient<Channel>) -> Result<(Vec<proto::Bundle>, Duration)> {
    let mut bundles = Vec::new();
    let mut time = Duration::ZERO;
    for _ in 0..2 {
        bundles.clear();
        let started = Instant::now();
        let mut answers = client.list_bundles(proto::ListBundlesRequest {}).await?.into_inner();
        while let Some(bundle) = answers.next().await {
            bundles.push(bundle?);
        }
        time = started.elapsed();
    }
    Ok((bundles, time))
}

/// Asks for single bundles, several at a time; gives the time that the server computed, in
/// seconds. (The client, which is not optimised, is slower than either server.)
async fn get(
    client: &RegistryClient<Channel>,
    bundles: &[proto::Bundle],
    server: u32,
) -> Result<f64> {
    let before = computed(server)?;
    let calls = bundles.iter().cycle().take(SINGLE).map(|bundle| {
        let mut client = client.clone();
        let request = proto::GetBundleRequest {
            pkg_name: bundle.package_name.clone(),
            channel_name: bundle.channel_name.clone(),
            csv_name: bundle.csv_name.clone(),
        };
        async move { client.get_bundle(request).await }
    });
    let mut answers = futures::stream::iter(calls).buffer_unordered(PARALLEL);
    while let Some(answer) = answers.next().await {
        answer?;
    }
    Ok(computed(server)? - before)
}

/// How long the threads of a process have run so far, in seconds.
fn computed(pid: u32) -> Result<f64> {
    let mut nanoseconds = 0.0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).context("read /proc")? {
        let path = thread.context("read /proc")?.path().join("schedstat");
        // A thread may have ended since.
        let text = fs::read_to_string(path).unwrap_or_default();
        nanoseconds += text.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0.0);
    }
    Ok(nanoseconds / 1e9)
}

/// Most memory of a process so far, and what of its memory now belongs to no file; in MiB.
fn memory(pid: u32) -> Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("read /proc")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib / 1024.0)
    };
    field("VmHWM:").zip(field("RssAnon:")).context("/proc does not tell about memory")
}
