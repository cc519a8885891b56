//! A status that is about to change again is not written in between.
//!
//! What is to be written waits until it has stood still for a moment; what changes all the time waits
//! no longer than [`LONGEST`], unless its [`StatusDelay`] says otherwise. Nothing is remembered of what is
//! written, so a process that starts anew writes what is due after the same moment.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use tokio::time::Instant;

/// How long a status has to stand still before it is written.
pub const STILL: Duration = Duration::from_secs(1);

/// How long a status that never stands still is held back.
pub const LONGEST: Duration = Duration::from_secs(5);

/// The statuses that wait to be written, by what they are about. Clones share them.
#[derive(Clone, Debug)]
pub struct StatusDelay<Key: Eq + Hash> {
    waiting: Arc<DashMap<Key, Waiting>>,
    /// How long a status that never stands still is held back.
    longest: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// What is to be written.
    digest: u64,
    /// Since when it is this.
    since: Instant,
    /// Since when something is to be written.
    first: Instant,
}

impl<Key: Eq + Hash> StatusDelay<Key> {
    /// Statuses that are held back so long at most.
    pub fn no_longer_than(longest: Duration) -> Self {
        Self { waiting: Arc::default(), longest }
    }

    /// For how long the status of this digest still waits; zero when it is to be written now.
    pub fn left(&self, key: Key, digest: u64, now: Instant) -> Duration {
        let fresh = Waiting { digest, since: now, first: now };
        let mut waiting = self.waiting.entry(key).or_insert(fresh);
        if waiting.digest != digest {
            *waiting = Waiting { first: waiting.first, ..fresh };
        }
        waiting.due(self.longest).saturating_duration_since(now)
    }

    /// For how long a status still waits, if one does: what is there is about to change. Zero when it is being
    /// written.
    pub fn waits(&self, key: &Key, now: Instant) -> Option<Duration> {
        let waiting = self.waiting.get(key)?;
        Some(waiting.due(self.longest).saturating_duration_since(now))
    }

    /// For how long a status may wait at most that waits now; zero when none does.
    pub fn longest_left(&self, key: &Key, now: Instant) -> Duration {
        let first = self.waiting.get(key).map(|waiting| waiting.first);
        let end = first.map(|first| first + self.longest);
        end.map(|end| end.saturating_duration_since(now)).unwrap_or_default()
    }

    /// Nothing is to be written any more: it was, or what is there is right.
    pub fn forget(&self, key: &Key) {
        self.waiting.remove(key);
    }
}

impl Waiting {
    fn due(&self, longest: Duration) -> Instant {
        (self.since + STILL).min(self.first + longest)
    }
}

impl<Key: Eq + Hash> Default for StatusDelay<Key> {
    fn default() -> Self {
        Self::no_longer_than(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Looks at these times, in milliseconds, find these digests; the last one has to wait so long.
    #[rstest]
    #[case::new(&[(0, 1)], 1000)]
    #[case::unchanged(&[(0, 1), (400, 1)], 600)]
    #[case::stood_still(&[(0, 1), (1000, 1)], 0)]
    #[case::changed(&[(0, 1), (900, 2)], 1000)]
    #[case::changed_back(&[(0, 1), (500, 2), (900, 1)], 1000)]
    #[case::restless(&[(0, 1), (900, 2), (1800, 3), (2700, 4), (3600, 5), (4500, 6)], 500)]
    #[case::restless_for_long(&[(0, 1), (900, 2), (4900, 3), (5000, 4)], 0)]
    fn waits(#[case] looks: &[(u64, u64)], #[case] left: u64) {
        let (status_delay, start) = (StatusDelay::default(), Instant::now());
        let mut last = None;
        for (at, digest) in looks {
            last = Some(status_delay.left("a", *digest, start + Duration::from_millis(*at)));
        }
        assert_eq!(last, Some(Duration::from_millis(left)));
    }

    /// Looks at these times, in milliseconds, each find something else.
    #[rstest]
    #[case::restless(&[0, 900, 5000], 1000)]
    #[case::restless_for_long(&[0, 900, 8500], 500)]
    #[case::restless_for_too_long(&[0, 900, 9000], 0)]
    fn waits_longer(#[case] looks: &[u64], #[case] left: u64) {
        let (status_delay, start) =
            (StatusDelay::no_longer_than(Duration::from_secs(9)), Instant::now());
        let mut last = None;
        for at in looks {
            let now = start + Duration::from_millis(*at);
            last = Some(status_delay.left("a", *at, now));
            assert_eq!(status_delay.waits(&"a", now), last);
        }
        assert_eq!(last, Some(Duration::from_millis(left)));
    }

    #[test]
    fn what_waits_has_an_end() {
        let (status_delay, start) = (StatusDelay::default(), Instant::now());
        assert_eq!(status_delay.longest_left(&"a", start), Duration::ZERO);
        let later = start + Duration::from_secs(2);
        status_delay.left("a", 1, start);
        status_delay.left("a", 2, later);
        assert_eq!(
            status_delay.longest_left(&"a", later),
            Duration::from_secs(3),
            "changes prolong nothing"
        );
        assert_eq!(status_delay.longest_left(&"a", later + LONGEST), Duration::ZERO);
    }

    #[test]
    fn what_was_written_is_forgotten() {
        let (status_delay, start) = (StatusDelay::default(), Instant::now());
        status_delay.left("a", 1, start);
        status_delay.forget(&"a");
        assert!(status_delay.waiting.is_empty());
        assert_eq!(status_delay.waits(&"a", start), None);
        assert_eq!(status_delay.left("a", 1, start + STILL), STILL);
    }
}
