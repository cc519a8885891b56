//! The task behind a watch: turns watch events into changes of a store.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::ApiResource;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::DefaultBackoff;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use super::cache::Unconfirmed;
use super::fill::Fill;
use crate::metrics::WatchMetrics;
use crate::received::Received;
use crate::tasks::{Gate, chain, in_place};

/// An object that the process wrote should come back over the watch within milliseconds. When it
/// has not after one to two of these, it is read: it may have been deleted during a gap.
pub(super) const CONFIRM_AFTER: Duration = Duration::from_secs(5);

/// Longest pause before another attempt to watch: an API server that is back is found that soon.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Text of more bytes is a large object: its values may take megabytes.
const LARGE: usize = 64 << 10;

/// Held while there are values of a large object, whatever watch brought it: so many watches as there are
/// threads would have as many of them at the same time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A started watch on objects of one kind.
pub(super) struct Follower {
    pub(super) client: Client,
    pub(super) namespace: Option<String>,
    pub(super) resource: ApiResource,
    pub(super) target: Box<dyn Fill>,
    pub(super) gate: Gate,
    pub(super) metrics: Option<WatchMetrics>,
}

impl Follower {
    /// Follows until `shutdown` is cancelled. Errors are retried with back-off for ever. `METADATA` asks
    /// for metadata alone.
    pub(super) async fn run<const METADATA: bool>(
        self,
        config: watcher::Config,
        shutdown: CancellationToken,
    ) {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = self.follow::<METADATA>(config) => {}
        }
    }

    async fn follow<const METADATA: bool>(&self, config: watcher::Config) {
        let api = self.api::<METADATA>(self.namespace.as_deref());
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
                _ = ticks.tick() => waiting = self.confirm::<METADATA>(&waiting).await,
            }
        }
    }

    fn take<const METADATA: bool>(&self, event: watcher::Event<Received<METADATA>>) {
        match event {
            watcher::Event::Init => self.target.begin_list(),
            watcher::Event::InitApply(received) => {
                self.read(&received, |object| self.target.list_one(object));
            }
            watcher::Event::InitDone => {
                let objects = self.target.end_list();
                self.gate.open();
                tracing::debug!(kind = self.resource.kind, objects, "listed");
            }
            watcher::Event::Apply(received) => self.apply(&received),
            watcher::Event::Delete(received) => self.target.delete(&received.metadata),
        }
    }

    fn apply<const METADATA: bool>(&self, received: &Received<METADATA>) {
        // What the process wrote itself was read when the API server answered: no values are made of it again.
        if !self.target.is_known(&received.metadata) {
            self.read(received, |object| self.target.apply(object));
        }
    }

    /// Makes values of an object, which are gone once it is taken.
    fn read<const METADATA: bool>(
        &self,
        received: &Received<METADATA>,
        take: impl FnOnce(&Value) -> Result<(), String>,
    ) {
        let read = || received.bounded().and_then(|object| take(&object));
        self.check(&received.metadata, alone(received.bytes(), read));
    }

    /// Reports an object that cannot be read, once per version.
    fn check(&self, metadata: &ObjectMeta, read: Result<(), String>) {
        let Err(error) = read else { return };
        if !self.target.reject(metadata, error.clone()) {
            return;
        }
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (namespace, name) = (text(&metadata.namespace), text(&metadata.name));
        let kind = &self.resource.kind;
        tracing::warn!(kind, namespace, name, error, "skipping a malformed object");
        if let Some(metrics) = &self.metrics {
            metrics.rejected(kind);
        }
    }

    fn interrupted(&self, error: &watcher::Error) {
        let kind = &self.resource.kind;
        tracing::warn!(kind, error = chain(error), "watch interrupted, trying again");
        if let Some(metrics) = &self.metrics {
            metrics.interrupted(kind);
        }
    }

    /// Reads the objects that were unconfirmed at the last tick already, and returns those that
    /// are unconfirmed now.
    async fn confirm<const METADATA: bool>(
        &self,
        before: &BTreeSet<Unconfirmed>,
    ) -> BTreeSet<Unconfirmed> {
        let now = self.target.unconfirmed();
        for suspect in now.intersection(before) {
            let api = self.api::<METADATA>(suspect.key.namespace.as_deref());
            match api.get_opt(&suspect.key.name).await {
                Ok(Some(received)) => self.apply(&received),
                Ok(None) => self.target.drop_unconfirmed(suspect),
                Err(error) => {
                    let (key, error, kind) = (&suspect.key, chain(&error), &self.resource.kind);
                    tracing::warn!(kind, %key, error, "cannot read, trying again");
                }
            }
        }
        now
    }

    fn api<const METADATA: bool>(&self, namespace: Option<&str>) -> Api<Received<METADATA>> {
        let client = self.client.clone();
        match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.resource),
            None => Api::all_with(client, &self.resource),
        }
    }
}

/// Does `work` with the values of an object of so many bytes of text; nothing else is done with those of
/// a large one meanwhile.
fn alone<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    in_place::read(bytes, || {
        let _one = (bytes > LARGE).then(|| ONE_AT_A_TIME.lock());
        work()
    })
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
