//! Whose turn it is to read something large from a server of a namespace: a catalog, an image.
//!
//! Each needs memory while it is read, so few are read at a time; of a namespace fewer, so that one
//! whose servers are slow holds up no other. Global catalogs have turns of their own. Whoever has a
//! turn has to get on, or gives it back: readers have deadlines.

use std::sync::{Arc, Weak};

use dashmap::DashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many turns there are at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// Of a namespace.
    pub each: usize,
    /// Of all namespaces but that of global catalogs.
    pub all: usize,
    /// Of global catalogs.
    pub global: usize,
}

/// Turns to read. Clones share them.
#[derive(Clone)]
pub(crate) struct Turns {
    global_namespace: Arc<str>,
    most: Most,
    global: Arc<Semaphore>,
    all: Arc<Semaphore>,
    /// Of namespaces that have a turn, or wait for one.
    each: Arc<DashMap<String, Weak<Semaphore>>>,
}

/// A turn, which ends when this is dropped.
pub(crate) struct Turn {
    _all: Option<OwnedSemaphorePermit>,
    _of_the_namespace: Option<OwnedSemaphorePermit>,
}

impl Turns {
    pub(crate) fn new(global_namespace: &str, most: Most) -> Self {
        Self {
            global_namespace: global_namespace.into(),
            most,
            global: Arc::new(Semaphore::new(most.global)),
            all: Arc::new(Semaphore::new(most.all)),
            each: Arc::default(),
        }
    }

    /// Waits for a turn of the namespace.
    pub(crate) async fn wait(&self, namespace: &str) -> Turn {
        if *namespace == *self.global_namespace {
            return Turn { _all: permit(Arc::clone(&self.global)).await, _of_the_namespace: None };
        }
        // No more of a namespace than may have a turn wait among those of others.
        let own = permit(self.of(namespace)).await;
        Turn { _all: permit(Arc::clone(&self.all)).await, _of_the_namespace: own }
    }

    /// A permit keeps it alive.
    fn of(&self, namespace: &str) -> Arc<Semaphore> {
        self.each.retain(|_, semaphore| semaphore.strong_count() > 0);
        let mut known = self.each.entry(namespace.to_owned()).or_default();
        known.upgrade().unwrap_or_else(|| {
            let fresh = Arc::new(Semaphore::new(self.most.each));
            *known = Arc::downgrade(&fresh);
            fresh
        })
    }
}

/// Semaphores are never closed here, so there is one.
async fn permit(semaphore: Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    semaphore.acquire_owned().await.ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// The turn, if it comes.
    async fn turn(turns: &Turns, namespace: &str) -> Option<Turn> {
        timeout(Duration::from_secs(1), turns.wait(namespace)).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_has_its_turn_and_leaves_others_theirs() {
        let turns = Turns::new("olm", Most { each: 1, all: 3, global: 2 });
        let held = turn(&turns, "a").await;
        assert!(held.is_some());
        assert!(turn(&turns, "a").await.is_none(), "a second one at a time");
        let others = [turn(&turns, "b").await, turn(&turns, "c").await];
        assert!(others.iter().all(Option::is_some));
        assert!(turn(&turns, "d").await.is_none(), "more than there may be");
        let global = [turn(&turns, "olm").await, turn(&turns, "olm").await];
        assert!(global.iter().all(Option::is_some));
        drop(held);
        assert!(turn(&turns, "d").await.is_some());
        assert!(turn(&turns, "a").await.is_some());
        assert_eq!(turns.each.len(), 3, "namespaces without turns are forgotten");
    }
}
