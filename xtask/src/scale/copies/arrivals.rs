//! Copies as they appear.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::{Stream, StreamExt};
use kube::ResourceExt;
use kube::api::{Api, PartialObjectMeta};
use kube::runtime::watcher::{self, Event, watcher};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::COPIED_FROM;
use tokio::time::{Instant, timeout_at};

use crate::scale::crowd::Crowd;

type Copy = PartialObjectMeta<ClusterServiceVersion>;

/// Counts copies of the CSVs of one namespace in the namespaces of a crowd. One watch of metadata:
/// the API server has little to do for it.
pub(super) struct Arrivals {
    events: Pin<Box<dyn Stream<Item = Result<Event<Copy>, watcher::Error>> + Send>>,
    crowd: BTreeSet<String>,
    seen: BTreeSet<(String, String)>,
}

impl Arrivals {
    /// Watches from now on, and sees what is there already.
    pub(super) async fn watch(crowd: &Crowd, origin: &str) -> Result<Self> {
        let csvs: Api<Copy> = Api::all(crowd.client());
        let copies = watcher::Config::default().labels(&format!("{COPIED_FROM}={origin}"));
        let events = Box::pin(watcher(csvs, copies));
        let crowd = crowd.names().iter().cloned().collect();
        Ok(Self { events, crowd, seen: BTreeSet::new() })
    }

    /// Waits until so many copies have been seen.
    pub(super) async fn until(&mut self, copies: usize, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        while self.seen.len() < copies {
            let Ok(event) = timeout_at(deadline, self.events.next()).await else {
                bail!("{} of {copies} copies are there after {patience:?}", self.seen.len());
            };
            let event = event.context("the watch on copies ended")?;
            if let Event::Apply(copy) | Event::InitApply(copy) =
                event.context("cannot watch copies")?
            {
                self.note(&copy);
            }
        }
        Ok(())
    }

    fn note(&mut self, copy: &Copy) {
        let namespace = copy.namespace().unwrap_or_default();
        if self.crowd.contains(&namespace) {
            self.seen.insert((namespace, copy.name_any()));
        }
    }
}
