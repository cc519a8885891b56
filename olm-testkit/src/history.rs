//! What happened to the objects of one kind, in the order of the API server.

use std::pin::pin;

use anyhow::{Context, Result, anyhow};
use futures::TryStreamExt;
use kube::ResourceExt;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::wait::{TIMEOUT, Waitable};

/// One change of one object.
#[derive(Clone, Debug)]
pub enum Change<K> {
    /// The object looks like this from now on.
    Is(Box<K>),
    /// The object is gone; this was its last state.
    Gone(Box<K>),
}

impl<K: Waitable> Change<K> {
    /// Name of the object.
    pub fn name(&self) -> String {
        match self {
            Self::Is(object) | Self::Gone(object) => object.name_any(),
        }
    }

    /// When it happened: the API server numbers all changes in one row, whatever their kind.
    pub fn revision(&self) -> Option<u64> {
        match self {
            Self::Is(object) | Self::Gone(object) => {
                object.meta().resource_version.as_deref()?.parse().ok()
            }
        }
    }
}

/// Records every change of a kind in a namespace, from the moment it is made until dropped.
#[derive(Debug)]
pub struct History<K> {
    changes: watch::Receiver<Vec<Change<K>>>,
    recorder: JoinHandle<()>,
}

impl<K: Waitable + Sync> History<K> {
    /// Records from now on. Objects that exist already appear with their next change.
    pub async fn of(api: Api<K>) -> Result<Self> {
        let list = api.list_metadata(&ListParams::default().limit(1)).await;
        let version = list.context("cannot begin a history")?.metadata.resource_version;
        let version = version.unwrap_or_default();
        let (sender, changes) = watch::channel(Vec::new());
        let recorder = tokio::spawn(async move {
            // The history ends with the watch; who waits for more sees what is missing.
            let _ = record(&api, &version, &sender).await;
        });
        Ok(Self { changes, recorder })
    }

    /// Waits until what was recorded satisfies a condition, and returns all of it.
    ///
    /// `what` completes the sentence "the history of a kind did not …".
    pub async fn until(
        &self,
        what: &str,
        condition: impl Fn(&[Change<K>]) -> bool,
    ) -> Result<Vec<Change<K>>> {
        let mut changes = self.changes.clone();
        let reached = timeout(TIMEOUT, changes.wait_for(|all| condition(all))).await;
        if let Ok(Ok(all)) = reached {
            return Ok(all.clone());
        }
        let names: Vec<String> = self.so_far().iter().map(Change::name).collect();
        Err(anyhow!("the history of a {} did not {what}; changes of {names:?}", K::kind(&())))
    }

    /// Everything recorded until now.
    pub fn so_far(&self) -> Vec<Change<K>> {
        self.changes.borrow().clone()
    }
}

impl<K> Drop for History<K> {
    fn drop(&mut self) {
        self.recorder.abort();
    }
}

async fn record<K: Waitable>(
    api: &Api<K>,
    version: &str,
    changes: &watch::Sender<Vec<Change<K>>>,
) -> Result<()> {
    let params = WatchParams::default().disable_bookmarks();
    let mut events = pin!(api.watch(&params, version).await?);
    while let Some(event) = events.try_next().await? {
        let change = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => Change::Is(object.into()),
            WatchEvent::Deleted(object) => Change::Gone(object.into()),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => return Err(anyhow!("{status:?}")),
        };
        changes.send_modify(|all| all.push(change));
    }
    Ok(())
}

/// The different states of an object one after the other, as text; `gone` where it was deleted.
pub fn states<K: Waitable>(
    changes: &[Change<K>],
    name: &str,
    state: impl Fn(&K) -> String,
) -> Vec<String> {
    let mut states: Vec<String> = changes
        .iter()
        .filter(|change| change.name() == name)
        .map(|change| match change {
            Change::Is(object) => state(object),
            Change::Gone(_) => "gone".to_owned(),
        })
        .collect();
    states.dedup();
    states
}
