//! Work on texts that others wrote, off the threads that requests, probes and leases run on.
//!
//! What a text costs is bounded, but a large one may still take a second: where other tasks wait for
//! the same thread, a Lease could be lost meanwhile.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Texts of more bytes are read off the async threads.
const LARGE: usize = 64 << 10;

/// Does `work` on a text of so many bytes. When that is large, the tasks that wait for this thread go on
/// on another one.
pub fn read<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes > LARGE && has_other_threads() { block_in_place(work) } else { work() }
}

/// A runtime with one thread cannot hand its tasks to another; neither is there one outside of any.
fn has_other_threads() -> bool {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    matches!(flavor, Ok(RuntimeFlavor::MultiThread))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// The only async thread is not held up: what was spawned on it runs while the work goes on.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_go_on_beside_large_work() {
        let (sender, receiver) = channel();
        let work = tokio::spawn(async move {
            let other = tokio::spawn(async move { sender.send(7) });
            let seen = read(LARGE + 1, || receiver.recv_timeout(Duration::from_secs(60)));
            (seen, other.await)
        });
        let (seen, _) = work.await.unwrap();
        assert_eq!(seen, Ok(7));
    }

    #[tokio::test]
    async fn one_thread_does_it_itself() {
        assert_eq!(read(usize::MAX, || 7), 7);
    }

    #[test]
    fn no_runtime_is_needed() {
        assert_eq!(read(usize::MAX, || 7), 7);
    }
}
