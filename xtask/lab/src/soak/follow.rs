//! Watches an installation until it is where it should be, or clearly will not get there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result};
use futures::{StreamExt, pin_mut};
use kube::api::ListParams;
use kube::runtime::{WatchStreamExt, watcher};
use olm_testkit::progress::Progress;
use olm_types::api::{ClusterServiceVersion, ClusterServiceVersionStatus, CsvPhase, Subscription};
use tokio::time::timeout;

use super::subscriptions::PackageNamespaces;

/// Without any change of a CSV for so long, nothing more will happen.
const SILENCE: Duration = Duration::from_secs(45);

/// The CSVs that were seen, and how far each got.
#[derive(Debug)]
pub(super) struct CsvProgress {
    pub succeeded: BTreeSet<String>,
    last: BTreeMap<String, ClusterServiceVersionStatus>,
    progress: Progress,
}

impl CsvProgress {
    /// Nothing yet; each new phase of a CSV is a line of `progress`.
    pub(super) fn new(progress: Progress) -> Self {
        Self { succeeded: BTreeSet::new(), last: BTreeMap::new(), progress }
    }

    /// Takes in a CSV; gives its name and whether it has succeeded.
    fn take(&mut self, csv: ClusterServiceVersion) -> (String, bool) {
        let name = csv.metadata.name.unwrap_or_default();
        let status = csv.status.unwrap_or_default();
        let succeeded = status.phase == CsvPhase::Succeeded;
        if succeeded {
            self.succeeded.insert(name.clone());
        }
        if self.phase(&name) != status.phase {
            self.progress.step(format!("{name} is {}", status.phase));
        }
        self.last.insert(name.clone(), status);
        (name, succeeded)
    }

    /// The last phase of a CSV.
    pub(super) fn phase(&self, csv: &str) -> CsvPhase {
        self.last.get(csv).map(|status| status.phase).unwrap_or_default()
    }

    /// What a CSV that has not succeeded says: object and field.
    pub(super) fn complaint(&self, csv: &str) -> Option<String> {
        let status = self.last.get(csv)?;
        let unmet = status
            .requirement_status
            .iter()
            .find(|one| one.status != "Present" && one.status != "Satisfied");
        let unmet = unmet
            .map(|one| format!("{} {} is {}: {}", one.kind, one.name, one.status, one.message));
        let reason = status.reason.clone().unwrap_or_default();
        let message = unmet.or_else(|| status.message.clone()).unwrap_or_default();
        Some(format!("ClusterServiceVersion {csv}, status.reason {reason}: {message}"))
    }
}

/// Follows the CSVs of a namespace until `last` has succeeded, or nothing changes any more.
pub(super) async fn follow(
    home: &PackageNamespaces,
    last: &str,
    seen: &mut CsvProgress,
) -> Result<bool> {
    let csvs = home.api::<ClusterServiceVersion>();
    let changes = watcher(csvs, watcher::Config::default()).default_backoff().applied_objects();
    pin_mut!(changes);
    while let Ok(Some(change)) = timeout(SILENCE, changes.next()).await {
        // A watch that fails starts again by itself.
        let Ok(csv) = change else { continue };
        let (name, succeeded) = seen.take(csv);
        // It may have succeeded in another channel before; that does not count here.
        if name == last && succeeded {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What Subscriptions say about a CSV that never came.
pub(super) async fn refusal(home: &PackageNamespaces) -> Result<Option<String>> {
    let subscriptions = home.api::<Subscription>().list(&ListParams::default()).await;
    for subscription in subscriptions.context("cannot list Subscriptions")? {
        let name = subscription.metadata.name.unwrap_or_default();
        for condition in subscription.status.unwrap_or_default().conditions {
            let bad = ["ResolutionFailed", "InstallPlanFailed", "BundleUnpackFailed"];
            if condition.status == "True" && bad.contains(&condition.type_.as_str()) {
                let message = condition.message.unwrap_or_default();
                return Ok(Some(format!(
                    "Subscription {name}, status.conditions[{}]: {message}",
                    condition.type_
                )));
            }
        }
    }
    Ok(None)
}
