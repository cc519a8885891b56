//! `cargo xtask bench packages`: what the packages API gives, how fast, and what it costs.
//!
//! Each folder is served as a catalog. The operator is started twice, without and with the API, and
//! asked through the API server, as kubectl asks. What the API adds to its memory has a limit.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::fixture::Fixture;
use olm_testkit::operators::{Admin, OLM_NAMESPACE, Operator, StartOptions};
use olm_testkit::process::Running;
use olm_testkit::{builders, packages, wait};
use olm_types::api::CatalogSource;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::scale::table::{Table, percentile};

/// Requests of each kind.
const REQUESTS: usize = 200;

/// Where packages are listed.
const LIST: &str = "/apis/packages.operators.coreos.com/v1/packagemanifests";

/// What kubectl asks for when it prints a table.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Most that the API may add to the memory of the operator, in MB: what is held for the two catalogs
/// that people use most, and what it takes to make an answer of it.
const ADDED: f64 = 10.0;

/// How long after the last catalog memory is looked at: what reading them took is given back by then.
const REST: Duration = Duration::from_secs(20);

/// Between two looks whether the operator knows all catalogs.
const LOOK: Duration = Duration::from_millis(200);

/// Serves the catalogs, and measures.
pub(super) async fn run(fixture: &Fixture, folders: &[PathBuf]) -> Result<Table> {
    ensure!(!folders.is_empty(), "name the folders of catalogs");
    let client = &fixture.client;
    let _registries = serve(fixture, folders).await?;
    let (operator, _, without) = started(fixture, "without", "", "catalogs", folders.len()).await?;
    operator.stop();
    packages::announce(client).await?;
    let address = packages::address(client).await?.to_string();
    let (operator, state, with) =
        started(fixture, "with", &address, "packages", folders.len()).await?;
    packages::until_available(client).await?;
    let mut table = Table::default();
    held(&state, &mut table);
    table.free("memory of the operator", format!("{with:.1} MB"));
    table.bounded("added by the packages API", with - without, ADDED, "MB");
    requests(client, &mut table).await?;
    table.free("memory after these requests", format!("{:.1} MB", megabytes(&operator)));
    operator.stop();
    Ok(table)
}

/// What people and programs ask for most.
async fn requests(client: &Client, table: &mut Table) -> Result<()> {
    let name = first(client).await?;
    let one = format!(
        "/apis/packages.operators.coreos.com/v1/namespaces/{OLM_NAMESPACE}/packagemanifests/{name}"
    );
    let asked = [
        ("all packages", LIST, None),
        ("all packages as a table", LIST, Some(TABLE)),
        ("one package", &one, None),
    ];
    for (what, path, accept) in asked {
        ask(client, what, path, accept, table).await?;
    }
    Ok(())
}

/// Each folder as a CatalogSource; the servers run until they are dropped.
pub(super) async fn serve(fixture: &Fixture, folders: &[PathBuf]) -> Result<Vec<Running>> {
    let catalogs: Api<CatalogSource> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    let mut registries = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        let name = format!("bench-{number}");
        let (running, address) = fixture.binaries.registry(&name, folder)?;
        registries.push(running);
        let source = builders::catalog_source(OLM_NAMESPACE, &name, &address);
        let made = catalogs.create(&PostParams::default(), &source).await;
        made.context("cannot add a catalog")?;
    }
    Ok(registries)
}

/// Starts the operator and waits until `part` of its state knows so many catalogs; also gives the
/// state and its memory in MB.
pub(super) async fn started(
    fixture: &Fixture,
    log: &str,
    address: &str,
    part: &str,
    catalogs: usize,
) -> Result<(Running, Value, f64)> {
    let args = vec!["--packages-address".to_owned(), address.to_owned()];
    let special = StartOptions { log: log.to_owned(), args, ..StartOptions::default() };
    let (binaries, kubeconfig) = (&fixture.binaries, &fixture.kubeconfig);
    let (mut running, admin) = binaries.operator(Operator::Catalog, kubeconfig, special).await?;
    admin.until_ready().await?;
    let deadline = Instant::now() + wait::TIMEOUT * 4;
    while known(&state(admin).await?, part) < catalogs {
        running.check()?;
        ensure!(Instant::now() < deadline, "the operator does not know all {part}");
        sleep(LOOK).await;
    }
    sleep(REST).await;
    let memory = megabytes(&running);
    Ok((running, state(admin).await?, memory))
}

async fn state(admin: Admin) -> Result<Value> {
    serde_json::from_str(&admin.state().await?).context("the operator's state is no JSON")
}

/// How many catalogs a part of the state knows, with content.
fn known(state: &Value, part: &str) -> usize {
    let catalogs = state.get(part).and_then(Value::as_object);
    let has_content = |catalog: &&Value| {
        catalog.is_object() && catalog.get("content").is_none_or(|content| !content.is_null())
    };
    catalogs.map_or(0, |catalogs| catalogs.values().filter(has_content).count())
}

fn held(state: &Value, table: &mut Table) {
    let catalogs = state.get("packages").and_then(Value::as_object);
    let sum = |field: &str| -> u64 {
        let catalogs = catalogs.into_iter().flatten();
        catalogs.filter_map(|(_, catalog)| catalog.get(field)?.as_u64()).sum()
    };
    table.free("packages", sum("packages").to_string());
    table.free("held for them, compressed", format!("{:.1} MB", sum("bytes") as f64 / 1e6));
}

fn megabytes(process: &Running) -> f64 {
    process.resident_memory().unwrap_or_default() as f64 / 1e6
}

async fn first(client: &Client) -> Result<String> {
    let list: Value = serde_json::from_str(&client.request_text(request(LIST, None)?).await?)?;
    let name = list.pointer("/items/0/metadata/name").and_then(Value::as_str);
    Ok(name.context("there is no package")?.to_owned())
}

fn request(path: &str, accept: Option<&str>) -> Result<http::Request<Vec<u8>>> {
    let accept = accept.unwrap_or("application/json");
    Ok(http::Request::get(path).header("accept", accept).body(Vec::new())?)
}

/// Asks again and again: size and times.
async fn ask(
    client: &Client,
    what: &str,
    path: &str,
    accept: Option<&str>,
    table: &mut Table,
) -> Result<()> {
    let (mut times, mut bytes) = (Vec::new(), 0);
    for _ in 0..REQUESTS {
        let started = Instant::now();
        bytes = client.request_text(request(path, accept)?).await?.len();
        times.push(started.elapsed());
    }
    times.sort();
    let [p50, p99] = [50, 99].map(|share| percentile(&times, share).as_secs_f64() * 1e3);
    table.free(what, format!("{bytes} bytes, p50 {p50:.1} ms, p99 {p99:.1} ms"));
    Ok(())
}
