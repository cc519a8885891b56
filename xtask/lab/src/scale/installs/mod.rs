//! `cargo xtask scale installs`: a Subscription in each of many namespaces, at the same time.
//!
//! All of them are to one package of one catalog that every namespace sees, and approve by
//! themselves. What is measured: how long until every namespace has its CSV, what that takes, how
//! long single reconciles and resolutions take, and silence afterwards.

mod load;

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use kube::runtime::watcher;
use olm_testkit::builders;
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use tokio::time::Instant;

use super::csv_counter::CsvCounter;
use super::latency::Latency;
use super::measures::{self, count, time_limit};
use super::namespaces::Namespaces;
use super::published::Catalog;
use super::requests::Requests;
use super::setup::Setup;
use super::table::Table;

/// Arguments of the subject.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How many namespaces, each with a Subscription
    #[arg(long, default_value_t = 100)]
    namespaces: usize,
    /// Seconds for which nothing may be written
    #[arg(long, default_value_t = 60)]
    silence: u64,
    /// The namespace whose catalogs are seen everywhere
    #[arg(long, default_value = OLM_NAMESPACE)]
    global_namespace: String,
}

/// Seconds from the first Subscription to the last CSV.
const CREATED: f64 = 60.0;

/// Requests of catalog-operator for one install.
const REQUESTS: f64 = 40.0;

/// What an install may take before it counts as stuck.
const SHARE: Duration = Duration::from_secs(3);

/// Fills the cluster and measures.
pub(super) async fn measure(arguments: &Arguments, setup: &Setup) -> Result<Table> {
    let namespaces = Namespaces::new(setup, arguments.namespaces);
    let name = format!("installs-{}", std::process::id());
    let catalog = load::published().put(setup, &arguments.global_namespace, &name).await?;
    let measured = with_catalog(arguments, setup, &namespaces, &catalog).await;
    let dissolved = namespaces.dissolve().await;
    catalog.withdraw().await.and(dissolved).and(measured)
}

async fn with_catalog(
    arguments: &Arguments,
    setup: &Setup,
    namespaces: &Namespaces,
    catalog: &Catalog,
) -> Result<Table> {
    let mut table = Table::default();
    let group = |name: &str| builders::operator_group(name, "group", &[name]);
    namespaces.fill(|home| async move { home.create(&group(&home.name)).await }).await?;
    let mut requests = setup.requests().await?;
    requests.until_idle(time_limit(SHARE, arguments.namespaces)).await?;
    install(arguments, setup, namespaces, catalog, &mut requests, &mut table).await?;
    measures::silence(arguments.silence, &mut requests, &mut table).await?;
    for operator in Operator::ALL {
        measures::memory("at rest", (operator, None), setup, &mut table).await?;
    }
    Ok(table)
}

async fn install(
    arguments: &Arguments,
    setup: &Setup,
    namespaces: &Namespaces,
    catalog: &Catalog,
    requests: &mut Requests,
    table: &mut Table,
) -> Result<()> {
    let (installs, time_limit) = (arguments.namespaces, time_limit(SHARE, arguments.namespaces));
    let named = watcher::Config::default().fields(&format!("metadata.name={}", load::CSV));
    let mut counter = CsvCounter::watch(namespaces, named);
    let before = setup.asked(Operator::Catalog).await?;
    requests.writes().await?;
    let latency = Latency::begin(setup).await?;
    let started = Instant::now();
    namespaces
        .each(|home| async move { home.create(&catalog.subscription(&home.name)).await })
        .await?;
    counter.until(installs, time_limit).await?;
    let took = started.elapsed().as_secs_f64();
    table.bounded(&format!("{installs} CSVs are there"), took, CREATED, "s");
    let writes = requests.until_idle(time_limit).await?;
    let asked = (setup.asked(Operator::Catalog).await? - before) / count(installs);
    let name = format!("requests of catalog-operator per install of {} objects", load::STEPS);
    table.bounded(&name, asked, REQUESTS, "");
    table.free("writes of both operators per install", format!("{:.1}", writes / count(installs)));
    latency.end(setup, table).await
}
