//! Knowledge about the one TCP connection below a channel: is it open, which one is it.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Shared between the connector, the open connection and the monitor.
#[derive(Clone, Debug)]
pub(super) struct Link {
    current: watch::Sender<Current>,
}

#[derive(Clone, Debug, Default)]
struct Current {
    /// Number of connections opened so far.
    epoch: u64,
    /// Whether the last of them is open.
    open: bool,
    /// Ends the last of them.
    abort: CancellationToken,
}

/// Held by an open connection; dropping it says that the connection ended.
#[derive(Debug)]
pub(super) struct Lease {
    link: Link,
    epoch: u64,
    abort: CancellationToken,
}

impl Link {
    pub(super) fn new() -> Self {
        Self { current: watch::Sender::new(Current::default()) }
    }

    /// Says that a connection was opened.
    pub(super) fn opened(&self) -> Lease {
        let abort = CancellationToken::new();
        let mut epoch = 0;
        self.current.send_modify(|current| {
            current.epoch = current.epoch.saturating_add(1);
            current.open = true;
            current.abort = abort.clone();
            epoch = current.epoch;
        });
        Lease { link: self.clone(), epoch, abort }
    }

    /// Number of the latest connection.
    pub(super) fn epoch(&self) -> u64 {
        self.current.borrow().epoch
    }

    /// Waits until connection `epoch` has ended.
    pub(super) async fn lost(&self, epoch: u64) {
        let mut changes = self.current.subscribe();
        let ended = |current: &Current| !current.open || current.epoch != epoch;
        // The sender is `self`, so it cannot be gone while this waits.
        let _ = changes.wait_for(ended).await;
    }

    /// Ends the latest connection, so that the next call opens another one.
    pub(super) fn abort(&self) {
        self.current.borrow().abort.cancel();
    }
}

impl Lease {
    /// Cancelled when the connection must end.
    pub(super) fn abort(&self) -> CancellationToken {
        self.abort.clone()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let epoch = self.epoch;
        self.link.current.send_if_modified(|current| {
            let latest = current.epoch == epoch && current.open;
            if latest {
                current.open = false;
            }
            latest
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_dropped_lease_is_a_loss() {
        let link = Link::new();
        let lease = link.opened();
        let epoch = link.epoch();
        assert_eq!(link.lost(epoch).now_or_never(), None);
        drop(lease);
        assert_eq!(link.lost(epoch).now_or_never(), Some(()));
    }

    #[test]
    fn a_newer_connection_is_a_loss_of_the_older() {
        let link = Link::new();
        let _first = link.opened();
        let epoch = link.epoch();
        let second = link.opened();
        assert_eq!(link.lost(epoch).now_or_never(), Some(()));
        assert_eq!(link.lost(link.epoch()).now_or_never(), None);
        link.abort();
        assert!(second.abort().is_cancelled());
    }
}
