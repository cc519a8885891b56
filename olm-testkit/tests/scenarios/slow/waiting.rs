//! Counts who is kept waiting by a slow server.

use std::sync::Arc;

use anyhow::{Context, Result};
use olm_testkit::wait::TIMEOUT;
use tokio::sync::watch;
use tokio::time::timeout;

/// How many are kept waiting. Clones share it.
#[derive(Clone, Default)]
pub struct Waiting(Arc<watch::Sender<usize>>);

/// One of them, until it is dropped: a client that left waits no more.
pub struct WaitingClient(Waiting);

impl Waiting {
    /// One more is kept waiting.
    pub fn keep(&self) -> WaitingClient {
        self.0.send_modify(|kept| *kept += 1);
        WaitingClient(self.clone())
    }

    /// How many are kept waiting now.
    pub fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until so many are kept waiting.
    pub async fn until(&self, many: usize) -> Result<()> {
        let mut kept = self.0.subscribe();
        let enough = kept.wait_for(|kept| *kept >= many);
        let waited = timeout(TIMEOUT, enough).await;
        let waited = waited.with_context(|| format!("{} of {many} wait", self.count()))?;
        waited.context("nothing counts any more").map(drop)
    }
}

impl Drop for WaitingClient {
    fn drop(&mut self) {
        self.0.0.send_modify(|kept| *kept -= 1);
    }
}
