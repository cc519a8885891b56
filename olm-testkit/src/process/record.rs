//! What identifies a process after the one that started it has ended, and what can be done to it.

use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};

use super::{GRACE, POLL};

/// Identifies a process across restarts of the one that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The name used in messages.
    pub name: String,
    /// The process, which is also its group.
    pub pid: u32,
    /// Its start, in clock ticks since boot: process ids are used again, this pair is not.
    pub started: u64,
}

impl Record {
    pub(super) fn of(name: &str, pid: u32) -> Self {
        let started = stat(pid).map_or(0, |(_, started)| started);
        Self { name: name.to_owned(), pid, started }
    }

    /// The record of the process that asks.
    pub fn of_this_process() -> Self {
        Self::of("owner", std::process::id())
    }

    /// Whether the process still runs.
    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|(state, started)| state != 'Z' && started == self.started)
    }

    /// Kills the process and its group at once, if it still is the one that was recorded.
    pub fn kill(&self) {
        if self.is_alive() {
            signal(self.pid, Signal::KILL);
        }
    }

    /// Stops the process and its group where they are, until [`Self::thaw`].
    pub fn freeze(&self) {
        if self.is_alive() {
            signal(self.pid, Signal::STOP);
        }
    }

    /// Lets them go on.
    pub fn thaw(&self) {
        if self.is_alive() {
            signal(self.pid, Signal::CONT);
        }
    }

    /// Ends the process and its group, if it still is the one that was recorded.
    pub fn stop(&self) {
        if !self.is_alive() {
            return;
        }
        signal(self.pid, Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while self.is_alive() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        if self.is_alive() {
            signal(self.pid, Signal::KILL);
        }
    }
}

/// State letter and start time from /proc; the name in between may hold spaces and brackets.
fn stat(pid: u32) -> Option<(char, u64)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let started = fields.nth(18)?.parse().ok()?;
    Some((state, started))
}

/// Sends a signal to a process and its group.
pub(super) fn signal(pid: u32, signal: Signal) {
    let group = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // Fails only when nothing is left to signal.
        let _ = kill_process_group(group, signal);
    }
}
