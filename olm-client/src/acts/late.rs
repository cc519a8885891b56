//! Something did not come to its end in time.

use std::fmt::{self, Display};
use std::time::Duration;

/// Something did not come to its end in time.
#[derive(Debug)]
pub struct NotInTime(String);

impl NotInTime {
    /// What did not happen, and how long was waited.
    #[must_use]
    pub fn new(what: &str, limit: Duration) -> Self {
        let seconds = limit.as_secs();
        Self(format!("{what} within {seconds} s; --timeout allows more"))
    }
}

impl Display for NotInTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotInTime {}
