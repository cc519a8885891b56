//! Counting writes, and stopping after one of them.
//!
//! A fault test runs a scenario once per write, ends the process right after it, and checks that
//! the next start converges.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use olm_effect::Effect;

/// Exit code of a process that was asked to stop after a write.
pub const CRASH_EXIT_CODE: i32 = 86;

/// Notified when the chosen write has happened.
pub trait StopPoint: Send + Sync {
    /// `writes` effects wrote to the cluster, `effect` was the last.
    fn reached(&self, writes: u64, effect: &Effect);
}

/// Ends the process at once with [`CRASH_EXIT_CODE`]: nothing is drained or flushed.
#[derive(Clone, Copy, Debug)]
pub struct ExitProcess;

impl StopPoint for ExitProcess {
    fn reached(&self, writes: u64, effect: &Effect) {
        tracing::error!(writes, object = %effect.target, "stopping after this write, as configured");
        std::process::exit(CRASH_EXIT_CODE);
    }
}

/// Counts effects that wrote.
pub(super) struct WriteCounter {
    count: AtomicU64,
    stop_after: Option<u64>,
    point: Arc<dyn StopPoint>,
}

impl WriteCounter {
    pub(super) fn new(stop_after: Option<u64>, point: Arc<dyn StopPoint>) -> Self {
        Self { count: AtomicU64::new(0), stop_after, point }
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn wrote(&self, effect: &Effect) {
        let writes = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if self.stop_after == Some(writes) {
            self.point.reached(writes, effect);
        }
    }
}
