//! The wall clock, read in one place.

use jiff::Timestamp;

/// The time now in whole seconds, the precision that API objects have.
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}
