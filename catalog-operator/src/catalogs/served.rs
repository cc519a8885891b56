//! One connected catalog.

use std::sync::{Arc, Mutex, PoisonError};

use olm_catalog::connection::CatalogConnection;
use olm_kit::tasks::{Pauses, Task, restarted};
use olm_lifecycle::catalog_source::{Connection, Content as ContentFacts};
use serde_json::Value;

use super::budget::Budget;
use super::known::Known;
use super::{CatalogChange, Content, Listener, UnhealthyCatalogs, follow};
use crate::slots::Slots;

/// A connection, what is known over it, and the task that keeps both current. Dropping it ends the
/// task.
pub(super) struct Served {
    connection: Arc<dyn CatalogConnection>,
    known: Arc<Known>,
    is_attached: bool,
    task: Mutex<Option<Task>>,
}

impl Served {
    pub(super) fn new(
        address: &str,
        connection: Arc<dyn CatalogConnection>,
        unhealthy: UnhealthyCatalogs,
    ) -> Self {
        let known = Arc::new(Known::new(address, unhealthy));
        Self { connection, known, is_attached: false, task: Mutex::default() }
    }

    /// What this process serves itself, whatever is behind the address.
    pub(super) fn attached(
        address: &str,
        connection: Arc<dyn CatalogConnection>,
        unhealthy: UnhealthyCatalogs,
    ) -> Self {
        Self { is_attached: true, ..Self::new(address, connection, unhealthy) }
    }

    /// Starts the task that keeps state and snapshot current. When it panics, the catalog says so until
    /// it was read again.
    pub(super) fn follow(&self, budget: Arc<Budget>, listener: Listener, slots: Slots) {
        let (connection, known) = (Arc::clone(&self.connection), Arc::clone(&self.known));
        let name = format!("follower of catalog {}", connection.key());
        let (lost, reported) = (Arc::clone(&connection), Arc::clone(&listener));
        let failed = Arc::clone(&known);
        let start = move || {
            let (connection, known) = (Arc::clone(&connection), Arc::clone(&known));
            let (budget, listener) = (Arc::clone(&budget), Arc::clone(&listener));
            follow::follow(connection, known, budget, listener, slots.clone())
        };
        let task = restarted(&name, Pauses::default(), start, move |restart| {
            failed.note_failed(&restart.cause);
            reported(lost.key(), CatalogChange::Lost);
        });
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Whether the connection goes to whatever is at this address.
    pub(super) fn leads_to(&self, address: &str) -> bool {
        !self.is_attached && self.known.address() == address
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
