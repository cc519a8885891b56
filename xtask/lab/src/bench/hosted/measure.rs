//! One way to serve catalogs, measured from the first CatalogSource to a restart.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::Client;
use kube::api::Api;
use olm_testkit::audit;
use olm_testkit::catalog_reader::{Reader, Reads};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::peer::{Opm, ServedCatalog};
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::super::olm::{Implementation, Olm};
use super::catalogs::{COUNT, Catalogs, name, route, served_at, sources};

/// Rest before memory is read: an allocator gives back what it has not needed.
const REST: Duration = Duration::from_secs(15);

/// Where the operator of ours serves, on this machine.
const ADDRESS: [u8; 4] = [127, 214, 0, 1];

/// For how long, and how often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// Seconds from one look for a newer image to the next one.
    pub(super) interval: u32,
    /// Seconds in which everything is counted.
    pub(super) counted: u32,
}

/// Who serves.
pub(super) struct Mode {
    implementation: Implementation,
    /// The folder of an operator that serves.
    process: Option<TempDir>,
}

/// What it took.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) title: String,
    /// Seconds from a new CatalogSource to READY, the median.
    pub(super) ready: f64,
    /// Seconds from the start of the operators to the time at which all catalogs are READY again.
    pub(super) restarted: f64,
    /// Writes of both operators in the window.
    pub(super) writes: usize,
    /// Requests that the registry got in the window.
    pub(super) requests: usize,
    /// Pods made in the window; the node asks the registry for the image of each.
    pub(super) pods: usize,
    /// Bytes that the catalog operator needs for each catalog.
    pub(super) operator: f64,
    /// Bytes of what serves each catalog beside the operator.
    pub(super) server: f64,
    /// By a client, while the operators restart.
    pub(super) reads: Reads,
}

impl Mode {
    /// Pods serve.
    pub(super) fn pods(implementation: Implementation) -> Self {
        Self { implementation, process: None }
    }

    /// Our operator serves.
    pub(super) fn process() -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        Ok(Self { implementation: Implementation::Ours, process: Some(folder) })
    }

    /// What a table calls it.
    pub(super) fn title(&self) -> String {
        let by = if self.process.is_some() { "process" } else { "pod" };
        format!("{}, {by}", self.implementation.title())
    }

    fn flags(&self) -> Vec<String> {
        let Some(folder) = &self.process else { return Vec::new() };
        vec![
            "--catalogs=process".to_owned(),
            format!("--catalogs-dir={}", folder.path().display()),
            format!("--catalogs-address={}", IpAddr::from(ADDRESS)),
        ]
    }

    /// What serves each catalog beside the operator, in bytes; the servers are at rest.
    async fn server(&self, catalogs: &Catalogs, servers: &[Running]) -> Result<f64> {
        if let Implementation::V0(_) = self.implementation {
            let opm = Opm::ensure(&Progress::to_stderr())?;
            let cache = tempfile::tempdir().context("cannot create a folder")?;
            let folder = cache.path().join("cache");
            let served = ServedCatalog::start(opm.program(), &catalogs.folder, Some(&folder))?;
            sleep(REST).await;
            return Ok(served.resident_memory().context("opm has ended")? as f64);
        }
        let memory: Option<Vec<u64>> = servers.iter().map(Running::resident_memory).collect();
        let memory = memory.context("a server has ended")?;
        Ok(memory.iter().sum::<u64>() as f64 / COUNT as f64)
    }
}

/// Measures on a cluster of its own.
pub(super) async fn measure(
    mode: Mode,
    catalogs: &Catalogs,
    windows: Windows,
    (binaries, logs): (&Path, Option<&Path>),
) -> Result<Measured> {
    let flags = mode.flags();
    let mut olm = mode.implementation.start(binaries, logs, &flags).await?;
    sleep(REST).await;
    let before = catalog_operator(&olm)?;
    let (mut ready, mut servers) = (Vec::new(), Vec::new());
    for number in 0..COUNT {
        let begun = Instant::now();
        let client = &olm.fixture.client;
        route(&olm, number)?;
        catalogs.create(client, number, windows.interval).await?;
        if mode.process.is_none() {
            servers.push(catalogs.serve(&olm, number).await?);
        }
        wait::until_connected(&sources(client), &name(number)).await?;
        ready.push(begun.elapsed());
    }
    sleep(REST).await;
    let operator = (catalog_operator(&olm)? - before) / COUNT as f64;
    let server = mode.server(catalogs, &servers).await?;
    let counted = count(&mode, &olm, catalogs, windows).await?;
    let (restarted, reads) = restart(&mode, &mut olm, &flags).await?;
    olm.check()?;
    servers.iter_mut().try_for_each(Running::check)?;
    servers.into_iter().for_each(Running::stop);
    olm.end().await?;
    ready.sort();
    let ready = ready.get(COUNT / 2).copied().unwrap_or_default().as_secs_f64();
    let (writes, requests, pods) = counted;
    let title = mode.title();
    Ok(Measured { title, ready, restarted, writes, requests, pods, operator, server, reads })
}

/// Resident memory of the catalog operator, in bytes.
fn catalog_operator(olm: &Olm) -> Result<f64> {
    let memory = olm.memory()?;
    Ok(memory.get(1).copied().context("there is no catalog operator")? as f64)
}

/// Writes of both operators, requests to the registry, and new Pods, while nothing changes.
async fn count(
    mode: &Mode,
    olm: &Olm,
    catalogs: &Catalogs,
    windows: Windows,
) -> Result<(usize, usize, usize)> {
    let mut audit = olm.fixture.audit().apart_from("leases");
    audit.skip()?;
    let before = catalogs.registry.requests()?;
    sleep(Duration::from_secs(windows.counted.into())).await;
    let writes = audit.writes(&mode.implementation.programs())?;
    for (what, times) in audit::tally(&writes) {
        println!("{}: {times:>4} {what}", mode.title());
    }
    let is_pod = |write: &&audit::Write| write.verb == "create" && write.resource() == "pods";
    let pods = writes.iter().filter(is_pod).count();
    Ok((writes.len(), catalogs.registry.requests()?.saturating_sub(before), pods))
}

/// Starts the operators again, while a client reads the first catalog.
async fn restart(mode: &Mode, olm: &mut Olm, flags: &[String]) -> Result<(f64, Reads)> {
    let client = olm.fixture.client.clone();
    let from = match mode.process {
        Some(_) => SocketAddr::new(ADDRESS.into(), recorded_port(&client).await?),
        None => served_at(olm, 0).await?,
    };
    let reader = Reader::start(&olm.fixture.binaries, "reader", &[from]).await?;
    let mut before = BTreeMap::new();
    for number in 0..COUNT {
        before.insert(name(number), connected(&sources(&client).get(&name(number)).await?));
    }
    let begun = olm.restart(&mode.implementation, flags).await?;
    for (name, before) in before {
        let again = |catalog: &CatalogSource| {
            let now = connected(catalog);
            now.as_ref().is_some_and(|(state, _)| state == "READY") && now != before
        };
        wait::until(&sources(&client), &name, "be READY again", again).await?;
    }
    Ok((begun.elapsed().as_secs_f64(), reader.end().await?))
}

/// The state of the connection, and since when.
fn connected(catalog: &CatalogSource) -> Option<(String, String)> {
    let state = catalog.status.as_ref()?.connection_state.as_ref()?;
    Some((state.last_observed_state.clone(), format!("{:?}", state.last_connect)))
}

/// Where our operator serves the first catalog.
pub(super) async fn recorded_port(client: &Client) -> Result<u16> {
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let port = |slice: &EndpointSlice| slice.ports.iter().flatten().find_map(|port| port.port);
    let is_there = |slice: &EndpointSlice| port(slice).is_some();
    let slice = format!("{}-olm-rs", name(0));
    let slice = wait::until(&slices, &slice, "have a port", is_there).await?;
    Ok(u16::try_from(port(&slice).context("a slice lost its port")?)?)
}
