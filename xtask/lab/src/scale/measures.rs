//! What more than one subject measures, and how long each of them waits.

use std::time::Duration;

use anyhow::Result;
use olm_testkit::operators::Operator;
use tokio::time::sleep;

use super::requests::Requests;
use super::setup::Setup;
use super::table::Table;

/// Rest before memory is read: an allocator gives back what it has not needed for seconds.
pub(super) const REST: Duration = Duration::from_secs(15);

/// What converging may take at least, however few namespaces there are.
pub(super) const LEAST_TIME: Duration = Duration::from_secs(180);

/// What converging may take where each of so many namespaces may take its share.
pub(super) fn time_limit(share: Duration, namespaces: usize) -> Duration {
    let namespaces = u32::try_from(namespaces).unwrap_or(u32::MAX);
    share.saturating_mul(namespaces).max(LEAST_TIME)
}

/// Megabytes that an operator holds, with a limit where there is one, and the most that it has held, of which its
/// Deployment gives it twice as much.
pub(super) async fn memory(
    when: &str,
    (operator, limit): (Operator, Option<f64>),
    setup: &Setup,
    table: &mut Table,
) -> Result<()> {
    let megabytes = setup.memory(operator).await? / 1e6;
    let name = format!("{operator}, memory {when}");
    match limit {
        Some(limit) => table.bounded(&name, megabytes, limit, "MB"),
        None => table.free(&name, format!("{megabytes:.1} MB")),
    }
    if let Some(bytes) = setup.peak(operator)? {
        let name = format!("{operator}, most memory so far");
        let half = operator.memory_limit() as f64 / 2e6;
        table.bounded(&name, bytes / 1e6, half, "MB");
    }
    Ok(())
}

/// Writes in so many seconds in which nothing happens: there must be none.
pub(super) async fn silence(
    seconds: u64,
    requests: &mut Requests,
    table: &mut Table,
) -> Result<()> {
    requests.writes().await?;
    sleep(Duration::from_secs(seconds)).await;
    let (writes, last) = requests.writes().await?;
    table.bounded(&format!("writes in {seconds} s of rest"), writes, 0.0, "");
    last.into_iter().for_each(|write| table.free("last write", write));
    Ok(())
}

/// A number to divide by.
pub(super) fn count(number: usize) -> f64 {
    u32::try_from(number.max(1)).map_or(f64::INFINITY, f64::from)
}
