//! Asks a server for everything.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt};
use prost::Message;
use tonic::transport::{Channel, Endpoint};

use crate::caller::Caller;
use olm_catalog::registry::proto::registry_client::RegistryClient;
use olm_catalog::registry::proto::{
    Bundle, GetBundleRequest, ListBundlesRequest, ListPackageRequest,
};

/// How many bundles are asked for by themselves.
pub(crate) const SINGLE: usize = 10_000;

/// How many callers there are, each with a connection of its own.
const CALLERS: usize = 4;

/// How many answers each of them waits for at the same time.
const PARALLEL: usize = 16;

/// Largest answer that is read, in bytes.
const ANSWER: usize = 128 << 20;

pub(crate) async fn connect(address: SocketAddr) -> Result<RegistryClient<Channel>> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
    Ok(RegistryClient::new(endpoint.connect().await?).max_decoding_message_size(ANSWER))
}

pub(crate) async fn first_package(client: &mut RegistryClient<Channel>) -> Result<()> {
    let packages = client.list_packages(ListPackageRequest {}).await?;
    packages.into_inner().next().await.context("the catalog is empty")??;
    Ok(())
}

/// Everything that is listed, and how fast in MiB per second; the second listing counts, when both
/// sides are warm.
pub(crate) async fn list(client: &mut RegistryClient<Channel>) -> Result<(Vec<Bundle>, f64)> {
    let (mut bundles, mut speed) = (Vec::new(), 0.0);
    for _ in 0..2 {
        let started = Instant::now();
        let answers = client.list_bundles(ListBundlesRequest {}).await?.into_inner();
        bundles = answers.try_collect().await?;
        let bytes: usize = bundles.iter().map(Message::encoded_len).sum();
        speed = bytes as f64 / f64::from(1 << 20) / started.elapsed().as_secs_f64();
    }
    Ok((bundles, speed))
}

/// Asks for single bundles; gives how many there are per second.
pub(crate) async fn get_each(address: SocketAddr, bundles: &[Bundle]) -> Result<f64> {
    let mut callers = Vec::new();
    for caller in 0..CALLERS {
        let mine = bundles.iter().cycle().skip(caller).step_by(CALLERS).take(SINGLE / CALLERS);
        let requests: Vec<_> = mine.map(request).collect();
        callers.push((Caller::connect(address).await?, requests));
    }
    let started = Instant::now();
    let callers: Vec<_> = callers
        .into_iter()
        .map(|(caller, requests)| tokio::spawn(caller.get_all(requests, PARALLEL)))
        .collect();
    for caller in callers {
        caller.await??;
    }
    Ok(SINGLE as f64 / started.elapsed().as_secs_f64())
}

pub(crate) fn request(bundle: &Bundle) -> GetBundleRequest {
    GetBundleRequest {
        pkg_name: bundle.package_name.clone(),
        channel_name: bundle.channel_name.clone(),
        csv_name: bundle.csv_name.clone(),
    }
}
