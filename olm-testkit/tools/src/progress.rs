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
