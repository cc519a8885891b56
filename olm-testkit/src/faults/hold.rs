//! Requests that wait before they are passed on, as in a network or a proxy that has come to a stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Method;
use tokio::sync::watch;

/// Holds requests on request. Clones share the state and the counts.
#[derive(Clone, Default)]
pub(super) struct Hold {
    delay: Arc<watch::Sender<Option<Duration>>>,
    writes: Arc<Writes>,
}

/// How many writes were held, and what became of them.
#[derive(Default)]
struct Writes {
    waiting: AtomicU64,
    passed_on: AtomicU64,
    hung_up: AtomicU64,
}

/// Writes that were held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldWrites {
    /// They wait, and so do their clients.
    pub waiting: u64,
    /// Their client still waited; the API server got them.
    pub passed_on: u64,
    /// Their client hung up meanwhile; the API server never saw them.
    pub hung_up: u64,
}

impl Hold {
    /// Requests that come from now on wait so long; they are passed on at once without a delay.
    pub(super) fn set(&self, delay: Option<Duration>) {
        self.delay.send_replace(delay);
    }

    /// Waits as long as a request of this method has to. Whoever drops this before has hung up.
    pub(super) async fn wait(&self, method: &Method) {
        let Some(delay) = *self.delay.borrow() else { return };
        let write = (*method != Method::GET).then(|| HeldWrite::new(&self.writes));
        tokio::time::sleep(delay).await;
        if let Some(mut write) = write {
            write.is_passed_on = true;
        }
    }

    /// What became of the writes so far.
    pub(super) fn writes(&self) -> HeldWrites {
        HeldWrites {
            waiting: self.writes.waiting.load(Ordering::SeqCst),
            passed_on: self.writes.passed_on.load(Ordering::SeqCst),
            hung_up: self.writes.hung_up.load(Ordering::SeqCst),
        }
    }
}

/// A write that waits; its client hung up when it is dropped before it is passed on.
struct HeldWrite<'a> {
    writes: &'a Writes,
    is_passed_on: bool,
}

impl<'a> HeldWrite<'a> {
    fn new(writes: &'a Writes) -> Self {
        writes.waiting.fetch_add(1, Ordering::SeqCst);
        Self { writes, is_passed_on: false }
    }
}

impl Drop for HeldWrite<'_> {
    fn drop(&mut self) {
        let Writes { waiting, passed_on, hung_up } = self.writes;
        let ended = if self.is_passed_on { passed_on } else { hung_up };
        ended.fetch_add(1, Ordering::SeqCst);
        waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
