//! Who may read something large from a server of a namespace: a catalog, an image.
//!
//! Each needs memory while it is read, so few are read at a time; of a namespace fewer, so that one
//! whose servers are slow holds up no other. Global catalogs have slots of their own. Whoever has a
//! slot has to get on, or gives it back: readers have deadlines.

use std::sync::{Arc, Weak};

use dashmap::DashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many slots there are at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotLimits {
    /// Of a namespace.
    pub each: usize,
    /// Of all namespaces but that of global catalogs.
    pub all: usize,
    /// Of global catalogs.
    pub global: usize,
}

/// Slots to read. Clones share them.
#[derive(Clone)]
pub(crate) struct Slots {
    global_namespace: Arc<str>,
    most: SlotLimits,
    global: Arc<Semaphore>,
    all: Arc<Semaphore>,
    /// Of namespaces that have a slot, or wait for one.
    each: Arc<DashMap<String, Weak<Semaphore>>>,
}

/// A slot, which ends when this is dropped.
pub(crate) struct Slot {
    _all: Option<OwnedSemaphorePermit>,
    _of_the_namespace: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(crate) fn new(global_namespace: &str, most: SlotLimits) -> Self {
        Self {
            global_namespace: global_namespace.into(),
            most,
            global: Arc::new(Semaphore::new(most.global)),
            all: Arc::new(Semaphore::new(most.all)),
            each: Arc::default(),
        }
    }

    /// Waits for a slot of the namespace.
    pub(crate) async fn wait(&self, namespace: &str) -> Slot {
        if *namespace == *self.global_namespace {
            return Slot { _all: permit(Arc::clone(&self.global)).await, _of_the_namespace: None };
        }
        // No more of a namespace than may have a slot wait among those of others.
        let own = permit(self.of(namespace)).await;
        Slot { _all: permit(Arc::clone(&self.all)).await, _of_the_namespace: own }
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

    /// The slot, if it comes.
    async fn slot(slots: &Slots, namespace: &str) -> Option<Slot> {
        timeout(Duration::from_secs(1), slots.wait(namespace)).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_has_its_turn_and_leaves_others_theirs() {
        let slots = Slots::new("olm", SlotLimits { each: 1, all: 3, global: 2 });
        let held = slot(&slots, "a").await;
        assert!(held.is_some());
        assert!(slot(&slots, "a").await.is_none(), "a second one at a time");
        let others = [slot(&slots, "b").await, slot(&slots, "c").await];
        assert!(others.iter().all(Option::is_some));
        assert!(slot(&slots, "d").await.is_none(), "more than there may be");
        let global = [slot(&slots, "olm").await, slot(&slots, "olm").await];
        assert!(global.iter().all(Option::is_some));
        drop(held);
        assert!(slot(&slots, "d").await.is_some());
        assert!(slot(&slots, "a").await.is_some());
        assert_eq!(slots.each.len(), 3, "namespaces without slots are forgotten");
    }
}
