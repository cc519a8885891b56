//! How long a key waits after failures in a row.

use std::hash::Hash;
use std::time::Duration;

use dashmap::DashMap;

/// Delay after the first failure; short enough that a write conflict is repaired unnoticed.
pub const BACKOFF_START: Duration = Duration::from_millis(5);

/// Longest delay between two tries: what a user who repaired the cause has to wait at most.
pub const BACKOFF_CAP: Duration = Duration::from_secs(60);

/// Failures in a row, per key. Keys without failures take no memory.
#[derive(Debug)]
pub(super) struct Failures<Key: Eq + Hash>(DashMap<Key, u32>);

impl<Key: Clone + Eq + Hash> Failures<Key> {
    /// Counts one more failure and returns the delay that follows it.
    pub(super) fn next_delay(&self, key: &Key) -> Duration {
        let mut count = self.0.entry(key.clone()).or_insert(0);
        *count = count.saturating_add(1);
        delay_after(*count)
    }

    pub(super) fn forget(&self, key: &Key) {
        self.0.remove(key);
    }

    /// Keys with failures.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn count(&self, key: &Key) -> u32 {
        self.0.get(key).map_or(0, |count| *count)
    }
}

impl<Key: Eq + Hash> Default for Failures<Key> {
    fn default() -> Self {
        Self(DashMap::new())
    }
}

/// The delay after `failures` failures in a row.
fn delay_after(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(31);
    BACKOFF_START.saturating_mul(1 << doublings).min(BACKOFF_CAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case(1, 5)]
    #[case(2, 10)]
    #[case(8, 640)]
    #[case(14, 40_960)]
    #[case(15, 60_000)]
    #[case(u32::MAX, 60_000)]
    fn doubles_up_to_the_cap(#[case] failures: u32, #[case] millis: u64) {
        assert_eq!(delay_after(failures), Duration::from_millis(millis));
    }
}
