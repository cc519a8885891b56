//! CSVs as they appear.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::{Stream, StreamExt};
use kube::ResourceExt;
use kube::api::{Api, PartialObjectMeta};
use kube::runtime::watcher::{self, Event, watcher};
use olm_types::api::ClusterServiceVersion;
use tokio::time::{Instant, timeout_at};

use super::namespaces::Namespaces;

type Csv = PartialObjectMeta<ClusterServiceVersion>;

/// Counts CSVs in the namespaces of a run. One watch of metadata: the API server has little to do
/// for it.
pub(super) struct CsvCounter {
    events: Pin<Box<dyn Stream<Item = Result<Event<Csv>, watcher::Error>> + Send>>,
    namespaces: BTreeSet<String>,
    seen: BTreeSet<(String, String)>,
}

impl CsvCounter {
    /// Watches a selection of CSVs from now on, and sees what is there already.
    pub(super) fn watch(namespaces: &Namespaces, selection: watcher::Config) -> Self {
        let csvs: Api<Csv> = Api::all(namespaces.client());
        let events = Box::pin(watcher(csvs, selection));
        let namespaces = namespaces.names().iter().cloned().collect();
        Self { events, namespaces, seen: BTreeSet::new() }
    }

    /// Waits until so many have been seen.
    pub(super) async fn until(&mut self, wanted: usize, time_limit: Duration) -> Result<()> {
        let deadline = Instant::now() + time_limit;
        while self.seen.len() < wanted {
            let Ok(event) = timeout_at(deadline, self.events.next()).await else {
                bail!("{} of {wanted} CSVs are there after {time_limit:?}", self.seen.len());
            };
            let event = event.context("the watch on CSVs ended")?;
            if let Event::Apply(csv) | Event::InitApply(csv) = event.context("cannot watch CSVs")? {
                self.note(&csv);
            }
        }
        Ok(())
    }

    fn note(&mut self, csv: &Csv) {
        let namespace = csv.namespace().unwrap_or_default();
        if self.namespaces.contains(&namespace) {
            self.seen.insert((namespace, csv.name_any()));
        }
    }
}
