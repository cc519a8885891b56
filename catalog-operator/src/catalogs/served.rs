//! One connected catalog.

use std::sync::{Arc, Mutex, PoisonError};

use olm_catalog::connection::CatalogConnection;
use olm_lifecycle::catalog_source::{Connection, Content as ContentFacts};
use serde_json::Value;
use tokio::task::AbortHandle;

use super::budget::Budget;
use super::known::Known;
use super::{Content, Listener, UnhealthyCatalogs, follow};
use crate::turns::Turns;

/// A connection, what is known over it, and the task that keeps both current. Dropping it ends the
/// task.
pub(super) struct Served {
    connection: Arc<dyn CatalogConnection>,
    known: Arc<Known>,
    task: Mutex<Option<AbortHandle>>,
}

impl Served {
    pub(super) fn new(
        address: &str,
        connection: Arc<dyn CatalogConnection>,
        unhealthy: UnhealthyCatalogs,
    ) -> Self {
        let known = Arc::new(Known::new(address, unhealthy));
        Self { connection, known, task: Mutex::default() }
    }

    /// Starts the task that keeps state and snapshot current.
    pub(super) fn follow(&self, budget: Arc<Budget>, listener: Listener, turns: Turns) {
        let (connection, known) = (Arc::clone(&self.connection), Arc::clone(&self.known));
        let task = follow::follow(connection, known, budget, listener, turns);
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(tokio::spawn(task).abort_handle());
    }

    pub(super) fn address(&self) -> &str {
        self.known.address()
    }

    pub(super) fn connection(&self) -> Arc<dyn CatalogConnection> {
        Arc::clone(&self.connection)
    }

    pub(super) fn connection_state(&self) -> Connection {
        self.known.connection()
    }

    pub(super) fn content(&self) -> Content {
        self.known.content()
    }

    pub(super) fn note_hidden(&self, reason: Option<String>) -> bool {
        self.known.note_hidden(reason)
    }

    pub(super) fn facts(&self) -> ContentFacts {
        self.known.content_facts()
    }

    pub(super) fn dump(&self) -> Value {
        self.known.dump()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}
