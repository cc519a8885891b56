//! `cargo xtask bench console`: how soon pages of the console are there, how large they are, and what it holds in
//! memory.
//!
//! Catalogs are served as in [`super::packages`]. Namespaces have a Subscription each, to a package that there is not,
//! and no OperatorGroup: catalog-operator says so once, before anything is measured.
//!
//! - `connection`: a console, and connections to it.

mod connection;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ListParams, PostParams};
use olm_testkit::fixture::Fixture;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::{builders, packages as api};
use olm_types::api::{CatalogSource, PackageManifest, Subscription};
use tokio::time::sleep;

use super::{corpus, packages};
use crate::scale::table::{Table, percentile};
use connection::{Connection, Console};

/// Most of each figure: milliseconds, kilobytes of 1,024 bytes, megabytes.
const FIRST: f64 = 100.0;
const SEARCH: f64 = 20.0;
const PAGE: f64 = 150.0;
const MEMORY: f64 = 40.0;

/// How often a page is asked for.
const TIMES: usize = 50;

/// Pages that are live at once, the most that there may be, and the most watches that they may have.
const LIVE: usize = 50;
const WATCHES: usize = 300;

/// Kinds that the page of an operator watches, which are the most.
const KINDS: usize = 7;

/// Namespaces between two of which all pages are looked at, not only what is installed.
const ALL_PAGES: usize = 20;

/// How long catalog-operator may speak of the Subscriptions before anything is measured.
const REST: Duration = Duration::from_secs(30);

/// Requests to the API server side by side.
const AT_ONCE: usize = 16;

/// Packages whose pages are weighed: those with the most versions in channels.
const LARGEST: usize = 25;

/// What users type.
const WORDS: [&str; 5] = ["database", "a", "kafka", "monitoring", "no-such-package"];

/// Arguments of the command.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Folders with file-based catalogs; by default those that lie in the folder that OLM_CORPUS names
    catalogs: Vec<PathBuf>,
    /// Namespaces with a Subscription
    #[arg(long, default_value_t = 1000)]
    namespaces: usize,
}

/// Measures.
pub(super) async fn run(fixture: &Fixture, arguments: &Arguments) -> Result<Table> {
    let folders = corpus::folders(&arguments.catalogs)?;
    let client = &fixture.client;
    let _registries = packages::serve(fixture, &folders).await?;
    api::announce(client).await?;
    let address = api::address(client).await?.to_string();
    let (operator, ..) =
        packages::started(fixture, "console", &address, "packages", folders.len()).await?;
    api::until_available(client).await?;
    let names = fill(client, arguments.namespaces).await?;
    sleep(REST).await;
    let mut table = Table::default();
    table.free("namespaces", names.len().to_string());
    speed(fixture, &mut table).await?;
    size(fixture, &mut table).await?;
    memory(fixture, &names, &mut table).await?;
    operator.stop();
    Ok(table)
}

/// Namespaces, each with a Subscription; their names.
async fn fill(client: &Client, count: usize) -> Result<Vec<String>> {
    let names: Vec<String> = (0..count).map(|number| format!("bench-{number}")).collect();
    let made = stream::iter(&names).map(|name| async move {
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let namespace = builders::namespace(name);
        namespaces.create(&PostParams::default(), &namespace).await.context("no namespace")?;
        let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), name);
        let mut subscription = builders::subscription(OLM_NAMESPACE, "bench", "", "bench-0");
        subscription.metadata.namespace = Some(name.clone());
        let made = subscriptions.create(&PostParams::default(), &subscription).await;
        made.map(drop).context("no Subscription")
    });
    made.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    Ok(names)
}

/// The first page and searches, of a console that has read the packages once.
async fn speed(fixture: &Fixture, table: &mut Table) -> Result<()> {
    let console = Console::start(fixture, &[]).await?;
    let mut connection = Connection::open(&console).await?;
    let begun = connection.time("/catalog").await?;
    table.free("first page, nothing read yet", format!("{:.1} ms", milliseconds(begun)));
    ensure!(connection.get("/catalog").await?.contains("class=\"card\""), "there are no packages");
    let first = median(&mut connection, &["/catalog".to_owned()]).await?;
    table.bounded("first page once packages are read, median", first, FIRST, "ms");
    let searches = WORDS.map(|word| format!("/catalog?q={word}"));
    let search = median(&mut connection, &searches).await?;
    table.bounded("search of all catalogs, median", search, SEARCH, "ms");
    Ok(())
}

/// The largest page of the packages with the most versions, whose graphs are read from where they are served.
async fn size(fixture: &Fixture, table: &mut Table) -> Result<()> {
    let catalogs: Api<CatalogSource> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    let mut flags = Vec::new();
    for source in catalogs.list(&ListParams::default()).await? {
        let name = source.metadata.name.unwrap_or_default();
        let address = source.spec.address.unwrap_or_default();
        flags.extend(["--catalog".to_owned(), format!("{OLM_NAMESPACE}/{name}={address}")]);
    }
    let console = Console::start(fixture, &flags).await?;
    let mut connection = Connection::open(&console).await?;
    let pages = ["/catalog", "/installed", "/installed?all=true", "/health"];
    let mut pages = pages.map(str::to_owned).to_vec();
    pages.extend(largest(&fixture.client).await?);
    let mut weighed = Vec::new();
    for page in pages {
        let bytes = connection.get(&page).await?.len();
        weighed.push((bytes, page));
    }
    let (bytes, page) = weighed.into_iter().max().context("no page is weighed")?;
    table.bounded("largest page", bytes as f64 / 1024.0, PAGE, "KB");
    table.free("which is", page);
    Ok(())
}

/// Pages of the packages with the most versions in channels.
async fn largest(client: &Client) -> Result<Vec<String>> {
    let packages: Api<PackageManifest> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let mut found: Vec<(usize, String)> = Vec::new();
    for package in packages.list(&ListParams::default()).await? {
        let Some(status) = package.status else { continue };
        let versions = status.channels.iter().map(|channel| channel.entries.len()).sum();
        let (namespace, catalog) = (&status.catalog_source_namespace, &status.catalog_source);
        let name = &status.package_name;
        found.push((versions, format!("/package?name={name}&catalog={namespace}%2F{catalog}")));
    }
    found.sort_by(|a, b| b.cmp(a));
    Ok(found.into_iter().take(LARGEST).map(|(_, page)| page).collect())
}

/// What it holds while as many pages are live as there may be, after a look at every namespace.
async fn memory(fixture: &Fixture, names: &[String], table: &mut Table) -> Result<()> {
    let console = Console::start(fixture, &[]).await?;
    table.free("memory at the start", format!("{:.1} MB", console.megabytes()?));
    let mut connection = Connection::open(&console).await?;
    connection.get("/catalog").await?;
    table.free("memory after the catalogs", format!("{:.1} MB", console.megabytes()?));
    let mut live = Vec::new();
    for path in live_pages(names) {
        live.push(Connection::follow(&console, &path).await?);
    }
    table.free("memory when all are live", format!("{:.1} MB", console.megabytes()?));
    for (number, name) in names.iter().enumerate() {
        connection.get(&format!("/installed?namespace={name}")).await?;
        if number % ALL_PAGES == 0 {
            for page in ["/catalog", "/plan", "/health"] {
                connection.get(&format!("{page}?namespace={name}")).await?;
            }
        }
    }
    table.free("most memory so far", format!("{:.1} MB", console.peak()?));
    table.bounded("memory with 50 live pages", console.megabytes()?, MEMORY, "MB");
    drop(live);
    Ok(())
}

/// The events of as many pages as may be live. Each follows a namespace of its own while there are watches for it; the
/// others share those of the first.
fn live_pages(names: &[String]) -> Vec<String> {
    let own = WATCHES / KINDS;
    let page = |number: usize| {
        let name = names.get(if number < own { number } else { 0 });
        let name = name.map_or(OLM_NAMESPACE, String::as_str);
        format!("/live?page=operator&namespace={name}")
    };
    (0..LIVE).map(page).collect()
}

/// Milliseconds of pages that are asked for in turn.
async fn median(connection: &mut Connection, pages: &[String]) -> Result<f64> {
    let mut times = Vec::new();
    for page in pages.iter().cycle().take(TIMES) {
        times.push(connection.time(page).await?);
    }
    times.sort();
    Ok(milliseconds(percentile(&times, 50)))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn as_many_pages_are_live_as_there_may_be() {
        let names: Vec<String> = (0..1000).map(|number| format!("bench-{number}")).collect();
        let pages = live_pages(&names);
        let namespaces: BTreeSet<&String> = pages.iter().collect();
        assert_eq!((pages.len(), namespaces.len()), (LIVE, 42));
        assert!(namespaces.len() * KINDS <= WATCHES);
        assert!(live_pages(&[]).iter().all(|page| page.ends_with(OLM_NAMESPACE)));
    }
}
