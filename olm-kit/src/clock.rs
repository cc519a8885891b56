//! The wall clock, from which the operators give pure functions the time.

use std::time::Duration;

use jiff::Timestamp;

/// The time now.
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// The time now in whole seconds, the precision that API objects have.
pub fn now_in_seconds() -> Timestamp {
    let now = now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// How long it is from now until `at`; zero when that is past.
pub fn until(at: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_whole_and_what_is_past_is_due() {
        let (before, seconds) = (now(), now_in_seconds());
        assert_eq!(seconds.subsec_nanosecond(), 0);
        assert!(before.as_second() <= seconds.as_second());
        assert_eq!(until(before), Duration::ZERO);
        let minute = Duration::from_secs(60);
        let rest = until(now() + minute);
        assert!(rest <= minute && rest > Duration::from_secs(30), "{rest:?}");
    }
}
