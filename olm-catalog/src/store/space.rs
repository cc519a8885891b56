//! What a store takes on its disk, so that a pull is refused before the disk is full: a Pod whose
//! volume has more than it may have is evicted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::StoreError;

/// Counts bytes.
#[derive(Debug)]
pub(super) struct Space {
    limit: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Of content.
    kept: u64,
    /// Of pulls that are under way.
    reserved: u64,
}

/// Bytes that are reserved for a pull, until this is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    space: Arc<Space>,
    bytes: u64,
}

impl Space {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Content takes so many bytes from now on.
    pub(super) fn keep(&self, bytes: u64) {
        self.state().kept = bytes;
    }

    /// Bytes that are taken, and how many there may be.
    pub(super) fn taken(&self) -> (u64, u64) {
        let state = self.state();
        (state.kept.saturating_add(state.reserved), self.limit)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    pub(super) fn new(space: Arc<Space>) -> Self {
        Self { space, bytes: 0 }
    }

    /// Reserves `bytes` in place of what was reserved before.
    ///
    /// # Errors
    /// There are not so many; what was reserved stays.
    pub(super) fn set(&mut self, bytes: u64) -> Result<(), StoreError> {
        let mut state = self.space.state();
        let others = state.reserved.saturating_sub(self.bytes);
        let free = self.space.limit.saturating_sub(state.kept.saturating_add(others));
        if bytes > free {
            return Err(StoreError::Full { wanted: bytes, free, limit: self.space.limit });
        }
        state.reserved = others.saturating_add(bytes);
        drop(state);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut state = self.space.state();
        state.reserved = state.reserved.saturating_sub(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_is_refused_before_the_disk_is_full() {
        let space = Arc::new(Space::new(100));
        space.keep(40);
        let mut first = Reserved::new(Arc::clone(&space));
        first.set(50).unwrap();
        let mut second = Reserved::new(Arc::clone(&space));
        let refused = second.set(11).unwrap_err().to_string();
        assert!(refused.contains("11 bytes are needed and 10 of 100 are free"), "{refused}");
        first.set(20).unwrap();
        second.set(11).unwrap();
        assert_eq!(space.taken(), (71, 100));
        drop(first);
        assert_eq!(space.taken(), (51, 100));
        space.keep(200);
        assert!(second.set(12).is_err());
    }
}
