//! Whether the CSV of every namespace has succeeded.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::api::{Api, ListParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use tokio::time::{Instant, sleep};

use super::namespaces::Namespaces;

/// How often progress is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// Waits until the CSV of this name has succeeded in each namespace.
///
/// # Errors
/// How many have not after the time limit, and what one of them says.
pub(super) async fn until_succeeded(
    namespaces: &Namespaces,
    csv: &str,
    time_limit: Duration,
) -> Result<()> {
    let task = namespaces.begin("until the CSV of each namespace has succeeded");
    let deadline = Instant::now() + time_limit;
    loop {
        let waiting = waiting(namespaces, csv).await?;
        let Some((name, why)) = waiting.first() else { return Ok(()) };
        task.far(format!("{} have not yet, ", waiting.len()));
        if Instant::now() > deadline {
            bail!(
                "{} CSVs have not succeeded after {time_limit:?}, among them that of {name}: {why}",
                waiting.len()
            );
        }
        sleep(LOOK).await;
    }
}

/// The namespaces whose CSV has not succeeded, and what it says.
async fn waiting(namespaces: &Namespaces, csv: &str) -> Result<Vec<(String, String)>> {
    let csvs: Api<ClusterServiceVersion> = Api::all(namespaces.client());
    let named = ListParams::default().fields(&format!("metadata.name={csv}"));
    let found = csvs.list(&named).await.context("cannot list CSVs")?;
    let mut waiting: BTreeMap<String, String> = namespaces
        .names()
        .iter()
        .map(|name| (name.clone(), "it is not there".to_owned()))
        .collect();
    for csv in found {
        let namespace = csv.metadata.namespace.unwrap_or_default();
        let status = csv.status.unwrap_or_default();
        if status.phase == CsvPhase::Succeeded {
            waiting.remove(&namespace);
        } else if let Some(why) = waiting.get_mut(&namespace) {
            *why = format!("{}, {}", status.phase, status.message.unwrap_or_default());
        }
    }
    Ok(waiting.into_iter().collect())
}
