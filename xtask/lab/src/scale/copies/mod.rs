//! `cargo xtask scale copies`: operators that watch all namespaces, in a cluster with many.
//!
//! One namespace has an OperatorGroup that selects all namespaces, and several CSVs; each of them is
//! shown in every other namespace by a copy. What is measured: how long until all copies are
//! there and what that takes, memory and silence afterwards, what a change of one CSV costs, how
//! much of the memory is for the copies, and how long one more Subscription takes beside all that.

mod additional_install;
mod load;
mod memory;
mod writes;

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use olm_testkit::audit::{self, Write};
use olm_testkit::operators::Operator;
use tokio::time::{Instant, sleep};

use super::csv_counter::CsvCounter;
use super::measures::{self, REST, count, time_limit};
use super::namespaces::Namespaces;
use super::requests::Requests;
use super::setup::Setup;
use super::table::Table;
use load::Origin;

/// Arguments of the subject.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How many namespaces, each with a copy of every CSV
    #[arg(long, default_value_t = 500)]
    namespaces: usize,
    /// How many operators watch all of them
    #[arg(long, default_value_t = 5)]
    operators: usize,
    /// Seconds for which nothing may be written
    #[arg(long, default_value_t = 60)]
    silence: u64,
}

impl Arguments {
    /// How many copies there are in the namespaces of the run.
    fn copies(&self) -> usize {
        self.namespaces * self.operators
    }
}

/// Megabytes that olm-operator may hold with the copies of 3,000 namespaces.
const MEMORY: f64 = 50.0;

/// Seconds in which all copies are there, by number of namespaces.
const CONVERGED: [(usize, f64); 2] = [(500, 10.0), (3000, 180.0)];

/// Writes that a copy costs when it is made, and when its CSV changes: the object and its status.
const WRITES_PER_COPY: f64 = 2.0;

/// Seconds from one more Subscription to its operator.
const ONE_MORE: f64 = 3.0;

/// What copying may take per namespace before it counts as stuck.
const SHARE: Duration = Duration::from_millis(500);

/// Fills the cluster and measures.
pub(super) async fn measure(arguments: &Arguments, setup: &mut Setup) -> Result<Table> {
    let namespaces = Namespaces::new(setup, arguments.namespaces);
    let measured = with_namespaces(arguments, setup, &namespaces).await;
    namespaces.dissolve().await.and(measured)
}

async fn with_namespaces(
    arguments: &Arguments,
    setup: &mut Setup,
    namespaces: &Namespaces,
) -> Result<Table> {
    let mut table = Table::default();
    namespaces.fill(|_| async { Ok(()) }).await?;
    let mut requests = setup.requests().await?;
    requests.until_idle(time_limit(SHARE, arguments.namespaces)).await?;
    held("before", setup, &mut table).await?;
    let origin = Origin::create(setup.client.clone(), namespaces).await?;
    let measured =
        with_origin(arguments, setup, namespaces, &origin, &mut requests, &mut table).await;
    origin.delete().await.and(measured)?;
    Ok(table)
}

async fn with_origin(
    arguments: &Arguments,
    setup: &mut Setup,
    namespaces: &Namespaces,
    origin: &Origin,
    requests: &mut Requests,
    table: &mut Table,
) -> Result<()> {
    copying(arguments, namespaces, origin, requests, table).await?;
    sleep(REST).await;
    held("at rest", setup, table).await?;
    measures::silence(arguments.silence, requests, table).await?;
    change(arguments, namespaces, origin, requests, table).await?;
    let time_limit = time_limit(SHARE, arguments.namespaces);
    memory::measure(arguments.copies(), time_limit, (&mut *setup, origin), requests, table).await?;
    one_more(setup, origin, table).await
}

async fn copying(
    arguments: &Arguments,
    namespaces: &Namespaces,
    origin: &Origin,
    requests: &mut Requests,
    table: &mut Table,
) -> Result<()> {
    let copies = arguments.copies();
    let mut counter = CsvCounter::watch(namespaces, origin.copies());
    requests.writes().await?;
    let started = Instant::now();
    origin.install(arguments.operators).await?;
    counter.until(copies, time_limit(SHARE, arguments.namespaces)).await?;
    let took = started.elapsed().as_secs_f64();
    let name = format!("{copies} copies are there");
    match CONVERGED.iter().find(|(most, _)| arguments.namespaces <= *most) {
        Some((_, limit)) => table.bounded(&name, took, *limit, "s"),
        None => table.free(&name, format!("{took:.1} s")),
    }
    let time_limit = time_limit(SHARE, arguments.namespaces);
    let (writes, known) = requests.writes_until_idle(time_limit).await?;
    let each = writes / count(copies);
    table.free("writes until the end", format!("{writes:.0}, {each:.2} per copy"));
    by_kind(known.as_deref(), origin, table);
    Ok(())
}

/// What was written of copies, and how often who wrote what.
fn by_kind(writes: Option<&[Write]>, origin: &Origin, table: &mut Table) {
    const OF_COPIES: &str = "writes of a copy";
    let Some(writes) = writes else { return table.missing(OF_COPIES, "no audit log") };
    table.bounded(OF_COPIES, writes::per_copy(writes, origin.name()), WRITES_PER_COPY, "");
    for (what, count) in audit::tally(writes) {
        table.free("of them", format!("{count:>7}  {what}"));
    }
}

/// A change that concerns the spec reaches every copy.
async fn change(
    arguments: &Arguments,
    namespaces: &Namespaces,
    origin: &Origin,
    requests: &mut Requests,
    table: &mut Table,
) -> Result<()> {
    requests.writes().await?;
    let started = Instant::now();
    origin.change().await?;
    let writes = requests.until_idle(time_limit(SHARE, arguments.namespaces)).await?;
    origin.check_change(namespaces).await?;
    table.bounded(
        "writes per copy for a change",
        writes / count(arguments.namespaces),
        WRITES_PER_COPY + 0.1,
        "",
    );
    table.free(
        "a change has converged, rest included",
        format!("{:.1} s", started.elapsed().as_secs_f64()),
    );
    Ok(())
}

async fn one_more(setup: &Setup, origin: &Origin, table: &mut Table) -> Result<()> {
    let took = additional_install::time(setup, origin).await?;
    table.bounded("one more Subscription to Succeeded", took.as_secs_f64(), ONE_MORE, "s");
    Ok(())
}

async fn held(when: &str, setup: &Setup, table: &mut Table) -> Result<()> {
    measures::memory(when, (Operator::Olm, Some(MEMORY)), setup, table).await?;
    measures::memory(when, (Operator::Catalog, None), setup, table).await
}
