//! What has to be in place before the process is ready.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;

/// A set of named gates; the process is ready once all of them are open. Clones share the set.
#[derive(Clone, Debug)]
pub struct Readiness {
    closed: Arc<watch::Sender<BTreeSet<String>>>,
}

/// One thing that readiness waits for. Dropping it does not open it.
#[derive(Debug)]
pub struct Gate {
    name: String,
    closed: Arc<watch::Sender<BTreeSet<String>>>,
}

impl Readiness {
    /// Ready at once, until the first gate is added.
    pub fn new() -> Self {
        Self { closed: Arc::new(watch::Sender::new(BTreeSet::new())) }
    }

    /// Adds a closed gate. Names should differ; gates of the same name open together.
    pub fn gate(&self, name: &str) -> Gate {
        self.closed.send_modify(|closed| {
            closed.insert(name.to_owned());
        });
        Gate { name: name.to_owned(), closed: self.closed.clone() }
    }

    /// Whether all gates are open.
    pub fn is_ready(&self) -> bool {
        self.closed.borrow().is_empty()
    }

    /// Names of the gates that are still closed.
    pub fn waiting_for(&self) -> Vec<String> {
        self.closed.borrow().iter().cloned().collect()
    }

    /// Waits until all gates are open.
    pub async fn ready(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.closed.subscribe().wait_for(BTreeSet::is_empty).await;
    }
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Opens the gate; opening it again changes nothing.
    pub fn open(&self) {
        self.closed.send_if_modified(|closed| closed.remove(&self.name));
    }
}
