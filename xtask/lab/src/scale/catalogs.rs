//! `cargo xtask scale catalogs`: many CatalogSources with an address, without Subscriptions.
//!
//! All of them have the address of one server, each has a connection of its own. What is measured:
//! how long until all are connected, silence, and what the catalog operator holds, beside public catalogs if some
//! are named.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use futures::{StreamExt, TryStreamExt, stream};
use kube::Client;
use kube::api::{Api, DeleteParams, PostParams};
use olm_testkit::builders::{self, Bundle, CatalogDir, Package, csv};
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use olm_testkit::registry::Registry;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use tokio::time::{Instant, sleep};

use super::measures::{self, REST, time_limit};
use super::namespaces::{LoadNamespace, Namespaces};
use super::setup::Setup;
use super::table::Table;

/// Arguments of the subject.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How many CatalogSources
    #[arg(long, default_value_t = 200)]
    catalogs: usize,
    /// Seconds for which nothing may be written
    #[arg(long, default_value_t = 300)]
    silence: u64,
    /// A registry server that the operators reach, on --cluster current: HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// A folder with a file-based catalog that all namespaces see, beside the others; may be repeated
    #[arg(long, value_name = "FOLDER")]
    public: Vec<PathBuf>,
}

/// What converging may take, per catalog.
const SHARE: Duration = Duration::from_secs(1);

/// CatalogSources that are created at the same time.
const SIDE_BY_SIDE: usize = 16;

/// Fills the cluster and measures.
pub(super) async fn measure(arguments: &Arguments, setup: &Setup) -> Result<Table> {
    let name = "many-catalogs";
    let spoon = csv("spoon.v1.0.0", "1.0.0").deployment("spoon", "default");
    let content = CatalogDir::of(&[Package::single("spoon", Bundle::new("1.0.0", &spoon))])?;
    let registry = setup.serve(name, content)?;
    let own = registry.as_ref().map(Registry::address);
    let address = arguments.address.clone().or(own);
    let address = address.context("name a server that the operators reach: --address HOST:PORT")?;
    let namespaces = Namespaces::new(setup, 1);
    let measured = with_namespaces(arguments, setup, &namespaces, &address).await;
    namespaces.dissolve().await.and(measured)
}

async fn with_namespaces(
    arguments: &Arguments,
    setup: &Setup,
    namespaces: &Namespaces,
    address: &str,
) -> Result<Table> {
    let mut table = Table::default();
    let mut requests = setup.requests().await?;
    let started = Instant::now();
    namespaces
        .fill(|home| async move { connect(&home, arguments.catalogs, address).await })
        .await?;
    let took = format!("{:.1} s", started.elapsed().as_secs_f64());
    table.free(&format!("{} catalogs created and READY", arguments.catalogs), took);
    let public = publish(&arguments.public, setup, &mut table).await?;
    requests.until_idle(time_limit(SHARE, arguments.catalogs)).await?;
    measures::silence(arguments.silence, &mut requests, &mut table).await?;
    sleep(REST).await;
    measures::memory("at rest", (Operator::Catalog, None), setup, &mut table).await?;
    withdraw(&setup.client, &public).await?;
    Ok(table)
}

/// A server of a catalog that all namespaces see, which ends with it, and the name of its CatalogSource.
type Public = (Option<Registry>, String);

/// Has all namespaces see catalogs that exist, and waits until they are read.
async fn publish(folders: &[PathBuf], setup: &Setup, table: &mut Table) -> Result<Vec<Public>> {
    let started = Instant::now();
    let sources: Api<CatalogSource> = Api::namespaced(setup.client.clone(), OLM_NAMESPACE);
    let mut public = Vec::new();
    for (folder, number) in folders.iter().zip(1..) {
        let name = format!("public-{number}");
        let registry = setup.serve(&name, CatalogDir::existing(folder.clone()))?;
        let address = registry.as_ref().map(Registry::address);
        let address = address.context("catalogs are served where the operators are ours")?;
        let source = builders::catalog_source(OLM_NAMESPACE, &name, &address);
        sources.create(&PostParams::default(), &source).await.context("cannot create a catalog")?;
        ready(&setup.client, OLM_NAMESPACE, &name).await?;
        public.push((registry, name));
    }
    if !public.is_empty() {
        let took = format!("{:.1} s", started.elapsed().as_secs_f64());
        table.free(&format!("{} public catalogs created and READY", public.len()), took);
    }
    Ok(public)
}

async fn withdraw(client: &Client, public: &[Public]) -> Result<()> {
    let sources: Api<CatalogSource> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    for (_, name) in public {
        let deleted = sources.delete(name, &DeleteParams::default()).await;
        deleted.with_context(|| format!("cannot delete catalog {name}"))?;
    }
    Ok(())
}

/// Creates so many and waits until all of them are connected.
async fn connect(home: &LoadNamespace, catalogs: usize, address: &str) -> Result<()> {
    let names: Vec<String> = (0..catalogs).map(|number| format!("shared-{number}")).collect();
    let created = names.iter().map(|name| async move {
        home.create(&builders::catalog_source(&home.name, name, address)).await
    });
    stream::iter(created).buffer_unordered(SIDE_BY_SIDE).try_collect::<()>().await?;
    for name in &names {
        ready(&home.client, &home.name, name).await?;
    }
    Ok(())
}

async fn ready(client: &Client, namespace: &str, name: &str) -> Result<()> {
    let sources: Api<CatalogSource> = Api::namespaced(client.clone(), namespace);
    wait::until(&sources, name, "be READY", |catalog: &CatalogSource| {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        state.is_some_and(|state| state.last_observed_state == "READY")
    })
    .await
    .map(drop)
}
