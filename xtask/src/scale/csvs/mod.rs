//! `cargo xtask scale csvs`: many namespaces, a settled CSV in each.
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

use super::crowd::Crowd;
use super::requests::Requests;
use super::stage::Stage;
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

/// Seconds from start to ready.
const READY: f64 = 10.0;

/// Milliseconds from a change of a CSV to its effect, for 99 of 100.
const EFFECT: f64 = 200.0;

/// What settling may take, per namespace; the simulated node is the slow part.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What settling may take at least.
const LEAST_PATIENCE: Duration = Duration::from_secs(180);

/// Rest before memory is read: an allocator gives back what it has not needed for seconds.
const REST: Duration = Duration::from_secs(15);

/// Fills the cluster and measures.
pub(super) async fn measure(arguments: &Arguments, stage: &mut Stage) -> Result<Table> {
    let crowd = Crowd::new(stage.client.clone(), arguments.namespaces);
    let measured = with_crowd(arguments, stage, &crowd).await;
    crowd.dissolve().await.and(measured)
}

async fn with_crowd(arguments: &Arguments, stage: &mut Stage, crowd: &Crowd) -> Result<Table> {
    let mut table = Table::default();
    let mut requests = stage.requests().await?;
    let started = Instant::now();
    load::load(crowd).await?;
    load::until_succeeded(crowd, patience(arguments)).await?;
    requests.until_quiet(patience(arguments)).await?;
    let took = format!("{:.0} s", started.elapsed().as_secs_f64());
    table.free(&format!("{} CSVs created and settled", arguments.namespaces), took);
    sleep(REST).await;
    memory("memory at rest", stage, &mut table).await?;
    silence(arguments, &mut requests, &mut table).await?;
    restart(stage, &mut requests, &mut table).await?;
    latency(arguments, crowd, &mut table).await?;
    sleep(REST).await;
    memory("memory after the changes", stage, &mut table).await?;
    Ok(table)
}

async fn memory(name: &str, stage: &Stage, table: &mut Table) -> Result<()> {
    let bytes = stage.memory(Operator::Olm).await?;
    table.bounded(name, bytes / 1e6, MEMORY, "MB");
    Ok(())
}

async fn silence(arguments: &Arguments, requests: &mut Requests, table: &mut Table) -> Result<()> {
    requests.writes().await?;
    let window = Duration::from_secs(arguments.silence);
    sleep(window).await;
    let (writes, last) = requests.writes().await?;
    let per_minute = writes * 60.0 / window.as_secs_f64().max(1.0);
    table.bounded("writes per minute at rest", per_minute, 0.0, "");
    last.into_iter().for_each(|write| table.free("last write", write));
    Ok(())
}

async fn restart(stage: &mut Stage, requests: &mut Requests, table: &mut Table) -> Result<()> {
    requests.lists()?;
    let Some(took) = stage.restart(Operator::Olm).await? else {
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
    requests.until_quiet(LEAST_PATIENCE).await?;
    sleep(REST).await;
    memory("memory after a restart", stage, table).await
}

async fn latency(arguments: &Arguments, crowd: &Crowd, table: &mut Table) -> Result<()> {
    let mut times = latency::times(crowd, arguments.changes).await?;
    times.sort();
    let of = |share| percentile(&times, share).as_secs_f64() * 1000.0;
    table.free("changed CSV to its effect, median", format!("{:.0} ms", of(50)));
    table.bounded("changed CSV to its effect, p99", of(99), EFFECT, "ms");
    Ok(())
}

fn patience(arguments: &Arguments) -> Duration {
    let crowd = u32::try_from(arguments.namespaces).unwrap_or(u32::MAX);
    PATIENCE.saturating_mul(crowd).max(LEAST_PATIENCE)
}
