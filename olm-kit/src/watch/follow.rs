//! The task behind a watch: turns watch events into changes of a store.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::DefaultBackoff;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use super::cache::Unconfirmed;
use super::guard::Guarded;
use super::{Cached, Store};
use crate::metrics::WatchMetrics;
use crate::tasks::{Gate, chain};

/// An object that the process wrote should come back over the watch within milliseconds. When it
/// has not after one to two of these, it is read: it may have been deleted during a gap.
pub(super) const CONFIRM_AFTER: Duration = Duration::from_secs(5);

/// Longest pause before another attempt to watch: an API server that is back is found that soon.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A started watch.
pub(super) struct Follower<K: Resource, T> {
    pub(super) client: Client,
    pub(super) namespace: Option<String>,
    pub(super) dynamic: K::DynamicType,
    pub(super) kind: String,
    pub(super) store: Store<T>,
    pub(super) gate: Gate,
    pub(super) metrics: Option<WatchMetrics>,
}

impl<K, T> Follower<K, T>
where
    K: Resource<DynamicType: Clone + Send + Sync> + Clone + Debug,
    K: DeserializeOwned + Send + Sync + 'static,
    T: From<K> + Cached + Send + Sync + 'static,
{
    /// Follows until `shutdown` is cancelled. Errors are retried with back-off for ever.
    pub(super) async fn run(self, config: watcher::Config, shutdown: CancellationToken) {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = self.follow(config) => {}
        }
    }

    async fn follow(&self, config: watcher::Config) {
        let api = self.api(self.namespace.as_deref());
        let mut events = pin!(watcher(api, config).backoff(Pauses::default()));
        let mut ticks = interval(CONFIRM_AFTER);
        let mut waiting = BTreeSet::new();
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event)) => self.take(event),
                    Some(Err(error)) => self.interrupted(&error),
                    None => return,
                },
                _ = ticks.tick() => waiting = self.confirm(&waiting).await,
            }
        }
    }

    fn take(&self, event: watcher::Event<Guarded<K>>) {
        match event {
            watcher::Event::Init => self.store.begin_list(),
            watcher::Event::InitApply(object) => {
                self.good(object, |object| self.store.list_one(object));
            }
            watcher::Event::InitDone => {
                self.store.end_list();
                self.gate.open();
                tracing::debug!(kind = self.kind, objects = self.store.len(), "listed");
            }
            watcher::Event::Apply(object) => self.good(object, |object| self.store.apply(object)),
            watcher::Event::Delete(object) => self.store.delete(object.meta()),
        }
    }

    /// Passes on an object that can be read, and reports once per version of one that cannot.
    fn good(&self, object: Guarded<K>, pass: impl FnOnce(T)) {
        let (metadata, error) = match object {
            Guarded::Good(object) => return pass(T::from(object)),
            Guarded::Bad { metadata, error } => (metadata, error),
        };
        if !self.store.reject(&metadata, error.clone()) {
            return;
        }
        let (namespace, name) =
            (metadata.namespace.unwrap_or_default(), metadata.name.unwrap_or_default());
        tracing::warn!(kind = self.kind, namespace, name, error, "skipping a malformed object");
        if let Some(metrics) = &self.metrics {
            metrics.rejected(&self.kind);
        }
    }

    fn interrupted(&self, error: &watcher::Error) {
        tracing::warn!(kind = self.kind, error = chain(error), "watch interrupted, trying again");
        if let Some(metrics) = &self.metrics {
            metrics.interrupted(&self.kind);
        }
    }

    /// Reads the objects that were unconfirmed at the last tick already, and returns those that
    /// are unconfirmed now.
    async fn confirm(&self, before: &BTreeSet<Unconfirmed>) -> BTreeSet<Unconfirmed> {
        let now = self.store.unconfirmed();
        for suspect in now.intersection(before) {
            let api = self.api(suspect.key.namespace.as_deref());
            match api.get_opt(&suspect.key.name).await {
                Ok(Some(object)) => self.good(object, |object| self.store.apply(object)),
                Ok(None) => self.store.drop_unconfirmed(suspect),
                Err(error) => {
                    let (key, error) = (&suspect.key, chain(&error));
                    tracing::warn!(kind = self.kind, %key, error, "cannot read, trying again");
                }
            }
        }
        now
    }

    fn api(&self, namespace: Option<&str>) -> Api<Guarded<K>> {
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &self.dynamic),
            None => Api::all_with(self.client.clone(), &self.dynamic),
        }
    }
}

/// The library's growing pauses, none longer than [`LONGEST_PAUSE`].
#[derive(Default)]
struct Pauses(DefaultBackoff);

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0.next().map(|pause| pause.min(LONGEST_PAUSE))
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {
        self.0.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_PAUSE, Pauses};

    #[tokio::test]
    async fn pauses_grow_up_to_the_longest_and_never_end() {
        let pauses: Vec<_> = Pauses::default().take(30).collect();
        assert!(pauses.first() < pauses.get(2));
        assert_eq!(pauses.last(), Some(&LONGEST_PAUSE));
        assert_eq!(pauses.len(), 30);
    }
}
