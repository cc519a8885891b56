//! The wall clock, read in one place.

use std::time::Duration;

use jiff::Timestamp;

/// The time now.
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// How long it is from now until `at`; zero when that is past.
pub fn until(at: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now())).unwrap_or_default()
}
