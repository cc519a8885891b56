//! What other replicas serve: the leader asks each of them at the port of each catalog, again and again. Nothing of
//! that is written; what follows from it is decided by `olm_lifecycle::catalog_source::hosting`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::future::join_all;
use olm_catalog::registry::client::{ContentAnswer, ask_for_content};
use olm_kit::tasks::{Pauses, Task, restarted};
use olm_lifecycle::catalog_source::hosting::ReplicaState;
use olm_types::bundle::CatalogKey;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Shared;

/// How long a replica may take for an answer.
const TIME: Duration = Duration::from_secs(3);

/// What replicas are asked about a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplicaQuery {
    /// The name of the content that they should serve.
    pub(super) content: String,
    /// The port.
    pub(super) port: u16,
    /// Addresses of their Pods.
    pub(super) addresses: BTreeSet<IpAddr>,
}

impl ReplicaQuery {
    /// Whether what was heard about the one says something about the other.
    fn is_like(&self, other: &Self) -> bool {
        (&self.content, self.port) == (&other.content, other.port)
    }
}

/// All that is asked.
#[derive(Default)]
pub(super) struct Peers(Mutex<BTreeMap<CatalogKey, QueriedReplicas>>);

struct QueriedReplicas {
    question: ReplicaQuery,
    heard: BTreeMap<IpAddr, ReplicaState>,
    /// None when there is no replica to be asked.
    _task: Option<Task>,
}

impl Peers {
    /// Has this asked from now on, and says what was heard so far.
    pub(super) fn ask(
        &self,
        shared: &Arc<Shared>,
        key: &CatalogKey,
        question: &ReplicaQuery,
    ) -> BTreeMap<IpAddr, ReplicaState> {
        let mut all = self.lock();
        let known = all.get(key).filter(|asked| asked.question.is_like(question));
        let mut heard = known.map(|asked| asked.heard.clone()).unwrap_or_default();
        if known.is_some_and(|asked| asked.question == *question) {
            return heard;
        }
        heard.retain(|address, _| question.addresses.contains(address));
        let _task = (!question.addresses.is_empty()).then(|| asking(shared, key, question));
        let asked = QueriedReplicas { question: question.clone(), heard: heard.clone(), _task };
        all.insert(key.clone(), asked);
        heard
    }

    /// Nothing is asked about a catalog any more.
    pub(super) fn forget(&self, key: &CatalogKey) {
        self.lock().remove(key);
    }

    pub(super) fn dump(&self) -> Value {
        let all = self.lock();
        let of = |asked: &QueriedReplicas| -> Value {
            let heard = asked.heard.iter();
            heard
                .map(|(address, heard)| (address.to_string(), json!(format!("{heard:?}"))))
                .collect()
        };
        all.iter().map(|(key, asked)| (key.to_string(), of(asked))).collect()
    }

    /// Takes in an answer. Says how long until that replica is asked again, and whether something follows; none
    /// when something else is asked by now.
    fn note(
        &self,
        key: &CatalogKey,
        question: &ReplicaQuery,
        address: IpAddr,
        now: ReplicaState,
    ) -> Option<(Duration, bool)> {
        let mut all = self.lock();
        let asked = all.get_mut(key).filter(|asked| asked.question.is_like(question))?;
        let before = asked.heard.get(&address).copied().unwrap_or_default();
        let heard = now.after(before);
        asked.heard.insert(address, heard);
        let verdict = heard.verdict();
        Some((heard.pause(), verdict.is_some() && verdict != before.verdict()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<CatalogKey, QueriedReplicas>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that asks.
fn asking(shared: &Arc<Shared>, key: &CatalogKey, question: &ReplicaQuery) -> Task {
    let name = format!("replicas that serve catalog {key}");
    let (shared, key, question) = (Arc::downgrade(shared), key.clone(), question.clone());
    let start = move || run(Weak::clone(&shared), key.clone(), question.clone());
    restarted(&name, Pauses::default(), start, |_| {})
}

async fn run(shared: Weak<Shared>, key: CatalogKey, question: ReplicaQuery) {
    let addresses = question.addresses.iter();
    join_all(addresses.map(|address| keep_asking(&shared, &key, &question, *address))).await;
    // Whatever comes next replaces this task.
    std::future::pending().await
}

/// Ends when something else is asked.
async fn keep_asking(
    shared: &Weak<Shared>,
    key: &CatalogKey,
    question: &ReplicaQuery,
    address: IpAddr,
) {
    loop {
        let Some(reached) = shared.upgrade().map(|shared| shared.reached(address)) else { return };
        let server = SocketAddr::new(reached, question.port);
        let heard = match ask_for_content(server, &question.content, TIME).await {
            ContentAnswer::Serves => ReplicaState::Serves,
            ContentAnswer::Other => ReplicaState::Other(1),
            ContentAnswer::Silent => ReplicaState::Silent(1),
        };
        let Some(shared) = shared.upgrade() else { return };
        let Some((pause, follows)) = shared.peers.note(key, question, address, heard) else {
            return;
        };
        if follows {
            let verdict = heard == ReplicaState::Serves;
            tracing::info!(catalog = %key, replica = %address, serves = verdict, "a replica was asked");
            (shared.changed)(key);
        }
        drop(shared);
        sleep(pause).await;
    }
}

impl Shared {
    /// Where a Pod is reached.
    fn reached(&self, address: IpAddr) -> IpAddr {
        self.options.replica_addresses.get(&address).copied().unwrap_or(address)
    }
}
