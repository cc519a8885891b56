//! Lines with the time since the start.

use std::fmt::Display;
use std::time::Instant;

/// Prints what happens, when it happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    start: Instant,
}

impl Timeline {
    /// Time zero.
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// A heading.
    pub(crate) fn chapter(&self, title: &str) {
        println!("\n{title}");
    }

    /// An event: what it is about, and what happened.
    pub(crate) fn event(&self, subject: &str, text: impl Display) {
        let elapsed = self.start.elapsed().as_secs_f32();
        println!("{elapsed:>7.1} s  {subject:<13} {text}");
    }

    /// A line that belongs to the event above.
    pub(crate) fn detail(&self, text: impl Display) {
        println!("{:25}{text}", "");
    }
}
