//! Prints the phases of ClusterServiceVersions while they pass.
//!
//! A watch may skip states, the history in the status does not: lines come from the history.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, pin_mut};
use kube::api::{Api, ListParams};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use olm_types::api::{ClusterServiceVersion, ClusterServiceVersionCondition};
use tokio::task::JoinHandle;
use tokio::time::{Duration, timeout};

use super::timeline::Timeline;

/// How many entries of each history were printed, by name.
type Printed = Arc<Mutex<BTreeMap<String, usize>>>;

/// A watch that prints.
pub(super) struct Follower {
    task: JoinHandle<()>,
    api: Api<ClusterServiceVersion>,
    printed: Printed,
    timeline: Timeline,
}

/// Starts to print the phases of every ClusterServiceVersion of a namespace.
pub(super) fn follow(timeline: Timeline, client: Client, namespace: &str) -> Follower {
    follow_after(timeline, Api::namespaced(client, namespace), BTreeMap::new())
}

/// The same for what happens from now on.
pub(super) async fn follow_news(
    timeline: Timeline,
    client: Client,
    namespace: &str,
) -> Result<Follower> {
    let api: Api<ClusterServiceVersion> = Api::namespaced(client, namespace);
    let past = api.list(&ListParams::default()).await.context("cannot list the CSVs")?;
    let past = past.iter().map(|csv| (csv.name_any(), history(csv).len())).collect();
    Ok(follow_after(timeline, api, past))
}

fn follow_after(
    timeline: Timeline,
    api: Api<ClusterServiceVersion>,
    past: BTreeMap<String, usize>,
) -> Follower {
    let printed: Printed = Arc::new(Mutex::new(past));
    let (watched, seen) = (api.clone(), Arc::clone(&printed));
    let task = tokio::spawn(async move {
        let objects =
            watcher(watched, watcher::Config::default()).default_backoff().applied_objects();
        pin_mut!(objects);
        while let Some(object) = objects.next().await {
            if let Ok(csv) = object {
                print_new(timeline, &seen, &csv);
            }
        }
    });
    Follower { task, api, printed, timeline }
}

impl Follower {
    /// Prints what is still to print and fails when one of the names never appeared.
    pub(super) async fn finish(self, names: &[&str]) -> Result<()> {
        self.task.abort();
        let _ = timeout(Duration::from_secs(1), self.task).await;
        for name in names {
            let csv = self.api.get(name).await?;
            print_new(self.timeline, &self.printed, &csv);
            let count = self.printed.lock().map_or(0, |all| all.get(*name).copied().unwrap_or(0));
            ensure!(count > 1, "the history of {name} has {count} entries");
        }
        Ok(())
    }
}

fn print_new(timeline: Timeline, printed: &Printed, csv: &ClusterServiceVersion) {
    let Ok(mut printed) = printed.lock() else { return };
    let history = history(csv);
    let count = printed.entry(csv.name_any()).or_default();
    for entry in history.iter().skip(*count) {
        let reason = entry.reason.as_deref().unwrap_or_default();
        let message = entry.message.as_deref().unwrap_or_default();
        let phase = entry.phase.to_string();
        let name = csv.name_any();
        timeline.event("CSV", format!("{name:<18} {phase:<12} {reason}: {message}"));
    }
    *count = history.len().max(*count);
}

fn history(csv: &ClusterServiceVersion) -> &[ClusterServiceVersionCondition] {
    csv.status.as_ref().map_or(&[][..], |status| &status.conditions)
}
