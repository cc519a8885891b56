//! Keeps the state and the snapshot of one catalog current.

use std::sync::Arc;
use std::time::Duration;

use olm_catalog::connection::{CatalogConnection, ConnectionState, ConnectionStatus};
use tokio::sync::watch;

use super::served::Known;
use super::{CatalogChange, Listener};

/// First pause after a catalog could not be loaded although its server answers.
const RETRY_START: Duration = Duration::from_secs(1);
/// Longest such pause.
const RETRY_CAP: Duration = Duration::from_secs(60);

/// Runs until the connection is given up.
pub(super) async fn follow(
    connection: Arc<dyn CatalogConnection>,
    known: Arc<Known>,
    listener: Listener,
) {
    let mut follower =
        Follower { status: connection.status(), connection, known, listener, pause: RETRY_START };
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
        match follower.load().await {
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
    listener: Listener,
    pause: Duration,
}

impl Follower {
    /// Takes in the current state.
    fn note(&mut self) -> ConnectionStatus {
        let status = self.status.borrow_and_update().clone();
        let lost_content = self.known.note_status(&status);
        self.tell(CatalogChange::State);
        if lost_content {
            self.tell(CatalogChange::Lost);
        }
        status
    }

    /// Loads the catalog; gives up when its connection changes.
    async fn load(&mut self) -> Attempt {
        self.known.note_loading();
        let result = tokio::select! {
            result = self.connection.load() => result,
            _ = self.status.changed() => return Attempt::Interrupted,
        };
        let (attempt, change) = match &result {
            Ok(_) => (Attempt::Loaded, CatalogChange::Loaded),
            Err(_) => (Attempt::Failed, CatalogChange::Lost),
        };
        match &result {
            Ok(snapshot) => log_loaded(snapshot),
            Err(error) => {
                tracing::warn!(catalog = %self.connection.key(), %error, "catalog could not be loaded")
            }
        }
        self.known.note_loaded(result);
        self.tell(change);
        attempt
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

    fn tell(&self, change: CatalogChange) {
        (self.listener)(self.connection.key(), change);
    }
}

fn log_loaded(snapshot: &olm_catalog::snapshot::CatalogSnapshot) {
    let (entries, skipped) = (snapshot.entries().len(), snapshot.skipped_count());
    tracing::info!(catalog = %snapshot.key(), entries, skipped, "catalog loaded");
    for bundle in snapshot.skipped() {
        let (package, name, reason) = (&bundle.package, &bundle.name, &bundle.reason);
        tracing::warn!(catalog = %snapshot.key(), package, bundle = name, reason, "bundle of the catalog is left out");
    }
}
