//! Keeps the state and the snapshot of one catalog current.

use std::sync::Arc;
use std::time::Duration;

use olm_catalog::connection::{CatalogConnection, ConnectionState, ConnectionStatus, LoadError};
use olm_catalog::snapshot::CatalogSnapshot;
use tokio::sync::watch;

use super::budget::{Budget, Part};
use super::known::Known;
use super::{CatalogChange, Listener};
use crate::slots::Slots;

/// First pause after a catalog could not be loaded although its server answers.
const RETRY_START: Duration = Duration::from_secs(1);
/// Longest such pause.
const RETRY_CAP: Duration = Duration::from_secs(60);
/// How long resolution waits for a catalog that is being loaded. Catalogs need less than a second;
/// one that takes longer must not hold up those who do not need it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Runs until the connection is given up.
pub(super) async fn follow(
    connection: Arc<dyn CatalogConnection>,
    known: Arc<Known>,
    budget: Arc<Budget>,
    listener: Listener,
    slots: Slots,
) {
    let (status, pause) = (connection.status(), RETRY_START);
    let mut follower = Follower { status, connection, known, budget, listener, slots, pause };
    let mut loaded = None;
    loop {
        let status = follower.note();
        let due = status.state == ConnectionState::Ready && loaded != Some(status.generation);
        if !due {
            if follower.status.changed().await.is_err() {
                return;
            }
            continue;
        }
        match follower.load(status.generation).await {
            Attempt::Loaded => {
                loaded = Some(status.generation);
                follower.pause = RETRY_START;
            }
            Attempt::Failed => follower.pause().await,
            Attempt::Interrupted => {}
        }
    }
}

/// How an attempt to load a catalog ended.
enum Attempt {
    Loaded,
    Failed,
    /// The connection changed meanwhile.
    Interrupted,
}

struct Follower {
    connection: Arc<dyn CatalogConnection>,
    status: watch::Receiver<ConnectionStatus>,
    known: Arc<Known>,
    budget: Arc<Budget>,
    listener: Listener,
    slots: Slots,
    pause: Duration,
}

impl Follower {
    /// Takes in the current state.
    fn note(&mut self) -> ConnectionStatus {
        let status = self.status.borrow_and_update().clone();
        let lost_content = self.known.note_status(&status);
        self.report(CatalogChange::State);
        if lost_content {
            self.report(CatalogChange::Lost);
        }
        status
    }

    /// Loads the catalog; gives up when its connection changes. There is no second try over
    /// one connection.
    async fn load(&mut self, generation: u64) -> Attempt {
        self.known.note_loading(generation);
        let Some(result) = self.result().await else {
            self.known.note_interrupted();
            return Attempt::Interrupted;
        };
        let result = result.map_err(|error| error.to_string()).and_then(|read| self.keep(read));
        let attempt = match &result {
            Ok(snapshot) => {
                log_loaded(snapshot);
                Attempt::Loaded
            }
            Err(error) => {
                tracing::warn!(catalog = %self.connection.key(), %error, "catalog could not be loaded");
                Attempt::Failed
            }
        };
        let change = self.known.note_loaded(result);
        self.report(change);
        attempt
    }

    /// What was read, if the memory budget allows it.
    fn keep(&self, read: CatalogSnapshot) -> Result<CatalogSnapshot, String> {
        let kept = self.budget.keep(self.connection.key(), Part::Content, read.bytes());
        kept.map(|()| read).map_err(|error| error.to_string())
    }

    /// What loading gives; nothing when the connection changes before.
    async fn result(&mut self) -> Option<Result<CatalogSnapshot, LoadError>> {
        let (connection, slots) = (Arc::clone(&self.connection), self.slots.clone());
        // While others of its namespace are read, nothing is wrong with this one.
        let _slot = tokio::select! {
            slot = slots.wait(&connection.key().namespace) => slot,
            _ = self.status.changed() => return None,
        };
        let load = connection.load();
        tokio::pin!(load);
        tokio::select! {
            result = &mut load => return Some(result),
            _ = self.status.changed() => return None,
            () = tokio::time::sleep(TIMEOUT) => {}
        }
        self.known.note_slow();
        self.report(CatalogChange::Lost);
        tokio::select! {
            result = &mut load => Some(result),
            _ = self.status.changed() => None,
        }
    }

    /// Waits before the next attempt, or until the connection changes.
    async fn pause(&mut self) {
        let pause = tokio::time::sleep(self.pause);
        self.pause = (self.pause * 2).min(RETRY_CAP);
        tokio::select! {
            () = pause => {}
            _ = self.status.changed() => {}
        }
    }

    fn report(&self, change: CatalogChange) {
        (self.listener)(self.connection.key(), change);
    }
}

fn log_loaded(snapshot: &CatalogSnapshot) {
    let (entries, skipped) = (snapshot.entries().len(), snapshot.skipped_count());
    tracing::info!(catalog = %snapshot.key(), entries, skipped, "catalog loaded");
    for bundle in snapshot.skipped() {
        let (package, name, reason) = (&bundle.package, &bundle.name, &bundle.reason);
        tracing::warn!(catalog = %snapshot.key(), package, bundle = name, reason, "bundle of the catalog is left out");
    }
}
