//! The runtime of a program that waits most of its time.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// Threads that run tasks, at most. On a large node, one for each of its processors would take memory and
/// do nothing with it: what takes long has threads of its own ([`crate::blocking`], [`crate::in_place`]).
const MOST_WORKERS: usize = 4;

/// A runtime with a thread for each processor that the process may use, within a limit.
///
/// # Errors
/// The system gives no threads, or cannot say when sockets are ready.
pub fn runtime() -> io::Result<Runtime> {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    Builder::new_multi_thread().worker_threads(processors.min(MOST_WORKERS)).enable_all().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_few() {
        let workers = runtime().unwrap().metrics().num_workers();
        assert!((1..=MOST_WORKERS).contains(&workers), "{workers}");
    }
}
