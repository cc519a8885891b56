//! Growing delays between attempts.

use std::time::Duration;

/// Doubles from `first` to `most`. There is no jitter: a controller has few catalogs, and each
/// has a server of its own.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    pub(super) fn new(first: Duration, most: Duration) -> Self {
        Self { first, most, next: first }
    }

    /// The delay before the next attempt.
    pub(super) fn advance(&mut self) -> Duration {
        let delay = self.next;
        self.next = delay.saturating_mul(2).min(self.most);
        delay
    }

    /// Starts again after a success.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_cap_and_starts_again() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(300));
        let delays: Vec<_> = (0..4).map(|_| backoff.advance().as_millis()).collect();
        assert_eq!(delays, [100, 200, 300, 300]);
        backoff.reset();
        assert_eq!(backoff.advance().as_millis(), 100);
    }
}
