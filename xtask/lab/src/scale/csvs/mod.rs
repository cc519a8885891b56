//! `cargo xtask scale csvs`: many namespaces, a CSV that has succeeded in each.
//!
//! Each namespace has an OperatorGroup, a ServiceAccount with rights, and a CSV with a Deployment
//! that provides a kind. What is measured: memory at rest, silence, a restart, and how soon a
//! changed CSV shows in its Deployment.

mod latency;
mod load;

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use olm_testkit::operators::Operator;
use tokio::time::{Instant, sleep};

use super::measures::{self, LEAST_TIME, REST, time_limit};
use super::namespaces::Namespaces;
use super::requests::Requests;
use super::setup::Setup;
use super::succeeded::until_succeeded;
use super::table::{Table, percentile};

/// Arguments of the subject.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How many namespaces, each with a CSV
    #[arg(long, default_value_t = 1000)]
    namespaces: usize,
    /// How many changes of a CSV are timed, one after the other
    #[arg(long, default_value_t = 200)]
    changes: usize,
    /// Seconds for which nothing may be written
    #[arg(long, default_value_t = 60)]
    silence: u64,
}

/// Megabytes that olm-operator may hold at rest.
const MEMORY: f64 = 120.0;

/// The operator under test, and what it may hold.
const OWN: (Operator, Option<f64>) = (Operator::Olm, Some(MEMORY));

/// Seconds from start to ready.
const READY: f64 = 10.0;

/// Milliseconds from a change of a CSV to its effect, for 99 of 100.
const EFFECT: f64 = 200.0;

/// What converging may take, per namespace; the simulated node is the slow part.
const SHARE: Duration = Duration::from_millis(1500);

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
    let mut requests = setup.requests().await?;
    let started = Instant::now();
    load::load(namespaces).await?;
    let converging = time_limit(SHARE, arguments.namespaces);
    until_succeeded(namespaces, load::CSV, converging).await?;
    requests.until_idle(converging).await?;
    let took = format!("{:.0} s", started.elapsed().as_secs_f64());
    table.free(&format!("{} CSVs created and converged", arguments.namespaces), took);
    sleep(REST).await;
    measures::memory("at rest", OWN, setup, &mut table).await?;
    measures::silence(arguments.silence, &mut requests, &mut table).await?;
    restart(setup, &mut requests, &mut table).await?;
    latency(arguments, namespaces, &mut table).await?;
    sleep(REST).await;
    measures::memory("after the changes", OWN, setup, &mut table).await?;
    Ok(table)
}

async fn restart(setup: &mut Setup, requests: &mut Requests, table: &mut Table) -> Result<()> {
    requests.lists()?;
    let Some(took) = setup.restart(Operator::Olm).await? else {
        table.missing("restart to ready", "the operator is not ours to restart");
        return Ok(());
    };
    table.bounded("restart to ready", took.as_secs_f64(), READY, "s");
    match requests.lists()? {
        Some(lists) => {
            let most = lists.iter().max_by_key(|(_, count)| **count);
            let (what, count) =
                most.map(|(what, count)| (what.as_str(), *count)).unwrap_or_default();
            table.bounded("lists of one kind", f64::from(u32::try_from(count)?), 1.0, "");
            table.free("kinds listed", format!("{}; most often {what}", lists.len()));
        }
        None => table.missing("lists of one kind", "there is no audit log"),
    }
    requests.until_idle(LEAST_TIME).await?;
    sleep(REST).await;
    measures::memory("after a restart", OWN, setup, table).await
}

async fn latency(arguments: &Arguments, namespaces: &Namespaces, table: &mut Table) -> Result<()> {
    let mut times = latency::times(namespaces, arguments.changes).await?;
    times.sort();
    let of = |share| percentile(&times, share).as_secs_f64() * 1000.0;
    table.free("changed CSV to its effect, median", format!("{:.0} ms", of(50)));
    table.bounded("changed CSV to its effect, p99", of(99), EFFECT, "ms");
    Ok(())
}
