//! One line per step of something slow, so that it is visible what a command is doing.

use std::fmt;
use std::sync::Arc;

/// Where progress lines go.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(&str) + Send + Sync>);

impl Progress {
    /// Lines go to `write`.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Lines go to standard error, indented.
    pub fn to_stderr() -> Self {
        Self::new(|line| eprintln!("  {line}"))
    }

    /// Reports one step.
    pub fn step(&self, line: impl AsRef<str>) {
        (self.0)(line.as_ref());
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// The line with which the scenarios on API servers say that all are over but those that are played by themselves.
/// Whoever reads it may begin what needs a machine at rest, too.
pub const ALONE_BEGIN: &str = "all others are over: scenarios that are played by themselves begin";
