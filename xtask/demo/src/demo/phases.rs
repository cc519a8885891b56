//! Prints the phases of ClusterServiceVersions while they pass.
//!
//! A watch may skip states, the history in the status does not: lines come from the history, one
//! for each phase.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, ensure};
use futures::{StreamExt, pin_mut};
use kube::api::{Api, ListParams};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use olm_testkit::wait::TIMEOUT;
use olm_types::api::{ClusterServiceVersion, ClusterServiceVersionCondition, CsvPhase};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::timeline::Timeline;

/// A watch that prints, until dropped.
pub(super) struct Follower {
    task: JoinHandle<()>,
    printed: watch::Receiver<Printed>,
}

/// What was printed.
#[derive(Default)]
struct Printed {
    /// How many entries of each history are known, by name, and the phase in the last one.
    known: BTreeMap<String, (usize, CsvPhase)>,
    /// Every line: whose phase, and which; none when the object is gone.
    lines: Vec<(String, Option<CsvPhase>)>,
}

/// Prints what happens to the ClusterServiceVersions of a namespace from now on.
pub(super) async fn follow(
    timeline: Timeline,
    client: &Client,
    namespace: &str,
) -> Result<Follower> {
    let api: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
    let past = api.list(&ListParams::default()).await.context("cannot list the CSVs")?;
    let mut printed = Printed::default();
    past.iter().for_each(|csv| printed.skip(csv));
    let (sender, printed) = watch::channel(printed);
    let task = tokio::spawn(async move {
        let events = watcher(api, watcher::Config::default()).default_backoff();
        pin_mut!(events);
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Apply(csv) | Event::InitApply(csv)) => {
                    sender.send_modify(|printed| printed.report(timeline, &csv));
                }
                Ok(Event::Delete(csv)) => sender.send_modify(|printed| printed.end(timeline, &csv)),
                // A watch that fails starts again by itself.
                Ok(Event::Init | Event::InitDone) | Err(_) => {}
            }
        }
    });
    Ok(Follower { task, printed })
}

impl Follower {
    /// Waits until it was printed that all of these have succeeded.
    pub(super) async fn until_succeeded(&self, names: &[&str]) -> Result<()> {
        let all = |printed: &Printed| names.iter().all(|name| printed.has_succeeded(name));
        self.until(&format!("{names:?} succeeded"), all).await
    }

    /// Waits until only the last of these versions is left. Fails when one of the others went
    /// before the next one had succeeded.
    pub(super) async fn until_replaced(&self, versions: &[&str]) -> Result<()> {
        let Some((last, old)) = versions.split_last() else { return Ok(()) };
        let end = |printed: &Printed| {
            printed.has_succeeded(last)
                && old.iter().all(|name| printed.place(name, None).is_some())
        };
        self.until(&format!("{last} has replaced {old:?}"), end).await?;
        let printed = self.printed.borrow();
        for pair in versions.windows(2) {
            let [old, new] = pair else { continue };
            let (gone, done) =
                (printed.place(old, None), printed.place(new, Some(CsvPhase::Succeeded)));
            ensure!(done.is_some() && done < gone, "{old} went before {new} had succeeded");
        }
        Ok(())
    }

    async fn until(&self, what: &str, end: impl Fn(&Printed) -> bool) -> Result<()> {
        let mut printed = self.printed.clone();
        let reached = timeout(TIMEOUT, printed.wait_for(|printed| end(printed))).await;
        match reached {
            Ok(Ok(_)) => Ok(()),
            _ => Err(anyhow!("nothing reported that {what}: {:?}", self.printed.borrow().lines)),
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Printed {
    /// What happened before is known.
    fn skip(&mut self, csv: &ClusterServiceVersion) {
        let history = history(csv);
        let phase = history.last().map_or(CsvPhase::None, |entry| entry.phase);
        self.known.insert(csv.name_any(), (history.len(), phase));
    }

    fn report(&mut self, timeline: Timeline, csv: &ClusterServiceVersion) {
        let (name, history) = (csv.name_any(), history(csv));
        let (count, last) = self.known.entry(name.clone()).or_default();
        for entry in history.iter().skip(*count) {
            if entry.phase == *last {
                continue;
            }
            *last = entry.phase;
            let message = entry.message.as_deref().unwrap_or_default();
            timeline.short_event("CSV", &line(&name, &entry.phase.to_string(), message));
            self.lines.push((name.clone(), Some(entry.phase)));
        }
        *count = history.len().max(*count);
    }

    fn end(&mut self, timeline: Timeline, csv: &ClusterServiceVersion) {
        let name = csv.name_any();
        timeline.short_event("CSV", &line(&name, "gone", ""));
        self.known.remove(&name);
        self.lines.push((name, None));
    }

    fn has_succeeded(&self, name: &str) -> bool {
        let last = self.lines.iter().rfind(|(whose, _)| whose == name);
        last.is_some_and(|(_, phase)| *phase == Some(CsvPhase::Succeeded))
    }

    /// The first line of this kind.
    fn place(&self, name: &str, phase: Option<CsvPhase>) -> Option<usize> {
        self.lines.iter().position(|(whose, what)| whose == name && *what == phase)
    }
}

fn line(name: &str, phase: &str, message: &str) -> String {
    format!("{name:<16} {phase:<12} {message}").trim_end().to_owned()
}

fn history(csv: &ClusterServiceVersion) -> &[ClusterServiceVersionCondition] {
    csv.status.as_ref().map_or(&[][..], |status| &status.conditions)
}
