//! When a bundle that could not be unpacked is tried again, where no Job decides that.

use std::time::Duration;

/// The pause after the first failure.
const FIRST: Duration = Duration::from_secs(5);

/// The longest pause: as long as a failed Job stays.
const LONGEST: Duration = Duration::from_secs(300);

/// How long the pause is after each failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// What the OperatorGroup asks for; nothing to begin short and get longer.
    pub interval: Option<Duration>,
}

impl Pauses {
    /// The pause after so many failures in a row.
    pub fn after(self, failures: u32) -> Duration {
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        self.interval.unwrap_or(doubled.min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, 1, 5)]
    #[case(None, 2, 10)]
    #[case(None, 7, 300)]
    #[case(None, u32::MAX, 300)]
    #[case(Some(20), 1, 20)]
    #[case(Some(20), 9, 20)]
    fn pauses(#[case] interval: Option<u64>, #[case] failures: u32, #[case] seconds: u64) {
        let pauses = Pauses { interval: interval.map(Duration::from_secs) };
        assert_eq!(pauses.after(failures), Duration::from_secs(seconds));
    }
}
