//! One connected catalog.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use olm_catalog::connection::{CatalogConnection, ConnectionState, ConnectionStatus, LoadError};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_lifecycle::catalog_source::Connection;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::{Content, Listener, follow};
use crate::clock;

/// A connection, its snapshot, and the task that keeps both current. Dropping it ends the task.
pub(super) struct Served {
    connection: Arc<dyn CatalogConnection>,
    known: Arc<Known>,
    task: Mutex<Option<AbortHandle>>,
}

/// What is known of one catalog.
pub(super) struct Known {
    address: String,
    facts: Mutex<Facts>,
}

struct Facts {
    status: ConnectionStatus,
    since: Timestamp,
    content: Content,
}

impl Served {
    pub(super) fn new(address: &str, connection: Arc<dyn CatalogConnection>) -> Self {
        let facts = Facts {
            status: ConnectionStatus::default(),
            since: clock::now(),
            content: Content::Waiting,
        };
        let known = Arc::new(Known { address: address.to_owned(), facts: Mutex::new(facts) });
        Self { connection, known, task: Mutex::default() }
    }

    /// Starts the task that keeps state and snapshot current.
    pub(super) fn follow(&self, listener: Listener) {
        let task = follow::follow(Arc::clone(&self.connection), Arc::clone(&self.known), listener);
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(tokio::spawn(task).abort_handle());
    }

    pub(super) fn address(&self) -> &str {
        &self.known.address
    }

    pub(super) fn connection(&self) -> Arc<dyn CatalogConnection> {
        Arc::clone(&self.connection)
    }

    pub(super) fn connection_state(&self) -> Connection {
        let facts = self.known.facts();
        let state = facts.status.state.as_str().to_owned();
        Connection { address: self.known.address.clone(), state, since: facts.since }
    }

    pub(super) fn content(&self) -> Content {
        self.known.facts().content.clone()
    }

    pub(super) fn dump(&self) -> Value {
        let facts = self.known.facts();
        let content = match &facts.content {
            Content::Waiting => json!("waiting"),
            Content::Loaded(snapshot) => {
                json!({ "entries": snapshot.entries().len(), "skipped": snapshot.skipped_count() })
            }
            Content::Unavailable(reason) => json!({ "unavailable": reason }),
        };
        json!({
            "address": self.known.address, "state": facts.status.state.as_str(),
            "since": facts.since.to_string(), "reason": facts.status.reason, "content": content,
        })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}

impl Known {
    /// Takes in a state of the connection. Says whether the content became unavailable with it:
    /// only a catalog that was never loaded does.
    pub(super) fn note_status(&self, status: &ConnectionStatus) -> bool {
        let mut facts = self.facts();
        if facts.status.state != status.state {
            facts.since = clock::now();
        }
        facts.status = status.clone();
        let failed = status.state == ConnectionState::TransientFailure;
        let lost = failed && !matches!(facts.content, Content::Loaded(_));
        if lost {
            facts.content = Content::Unavailable(unreachable_text(status));
        }
        lost
    }

    /// Loading begins: what was there may be stale, so resolution waits for the result.
    pub(super) fn note_loading(&self) {
        self.facts().content = Content::Waiting;
    }

    /// Takes in the result of loading.
    pub(super) fn note_loaded(&self, result: Result<CatalogSnapshot, LoadError>) {
        self.facts().content = match result {
            Ok(snapshot) => Content::Loaded(Arc::new(snapshot)),
            Err(error) => Content::Unavailable(error.to_string()),
        };
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What listing the bundles of an unreachable server answers in v0.
fn unreachable_text(status: &ConnectionStatus) -> String {
    match status.reason.as_deref().unwrap_or("the connection cannot be established") {
        reason if reason.starts_with("rpc error: ") => format!("failed to list bundles: {reason}"),
        reason => {
            format!("failed to list bundles: rpc error: code = Unavailable desc = {reason}")
        }
    }
}
