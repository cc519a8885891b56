//! One of several replicas acts; the others are ready to take over.
//!
//! The replicas share a `coordination.k8s.io` Lease. Its holder renews it; when it was not renewed
//! for its duration, another takes it. A replica judges that by its own monotonic clock, from the
//! moment at which it saw the Lease change, so clocks of nodes may differ. `decision` decides, and
//! `election` reads and writes the Lease, not through the interpreter, because it must work exactly
//! when the interpreter may not write.
//!
//! A leader stops writing before others may start: [`Leadership::may_write`] holds for a part of the
//! Lease's duration after the last renewal, whether or not the renewing task still runs. Clients that
//! a [`crate::client::Connector`] makes under a leadership write only while it holds, and the process
//! ends at once when it does not hold any more.

mod decision;
mod election;
mod participant;
#[cfg(test)]
mod tests;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

pub use election::{Election, Ending, LeaderError};
pub use participant::{Participant, ParticipantError};

/// Which Lease is fought for, by whom, and how fast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseOptions {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Who this replica is; differs from replica to replica and from start to start.
    pub identity: String,
    /// How long others wait after the last renewal.
    pub duration: Duration,
    /// How long the leader goes on writing after its last renewal; shorter than `duration` by what
    /// a request that is on its way may take.
    pub deadline: Duration,
    /// Between two renewals, and between two looks of those who wait.
    pub retry: Duration,
}

impl LeaseOptions {
    /// A Lease with the times that Kubernetes' own controllers use.
    pub fn new(namespace: &str, name: &str, identity: String) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            identity,
            duration: Duration::from_secs(15),
            deadline: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

/// Whether this replica acts. Clones share the answer.
#[derive(Clone, Debug)]
pub struct Leadership {
    leading: Arc<watch::Sender<bool>>,
    /// Until when writes are safe; without an end for a replica without rivals.
    until: Arc<Mutex<Option<Instant>>>,
    alone: bool,
}

impl Leadership {
    /// That of a process without rivals: it always acts.
    pub fn alone() -> Self {
        Self { leading: Arc::new(watch::Sender::new(true)), until: Arc::default(), alone: true }
    }

    /// That of a replica which has to be elected.
    pub(crate) fn awaited() -> Self {
        Self { leading: Arc::new(watch::Sender::new(false)), until: Arc::default(), alone: false }
    }

    /// Whether this replica was elected. It stays true until the process ends: a leader that loses
    /// its Lease does not go on as a follower.
    pub fn is_leader(&self) -> bool {
        *self.leading.borrow()
    }

    /// Waits until this replica is elected.
    pub async fn acquired(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.leading.subscribe().wait_for(|leading| *leading).await;
    }

    /// Whether no other replica can be the leader now.
    pub fn may_write(&self) -> bool {
        self.alone || self.until.lock().is_some_and(|until| Instant::now() < until)
    }

    /// Waits until this replica, which may write now, may not any more.
    pub(crate) async fn lapsed(&self) {
        if self.alone {
            return std::future::pending().await;
        }
        loop {
            let until = *self.until.lock();
            match until {
                Some(until) if Instant::now() < until => sleep_until(until).await,
                _ => return,
            }
        }
    }

    /// The Lease was renewed by a request sent at `sent`.
    pub(crate) fn renewed(&self, sent: Instant, deadline: Duration) {
        *self.until.lock() = Some(sent + deadline);
        self.leading.send_if_modified(|leading| !std::mem::replace(leading, true));
    }

    /// Whether the Lease was given back, or taken by another replica.
    fn has_given_up(&self) -> bool {
        self.until.lock().is_none()
    }

    /// Ends all writing.
    fn give_up(&self) {
        *self.until.lock() = None;
    }
}

/// The name of the host, which is that of the Pod, and the time of the start, so that a restarted
/// container does not take itself for its predecessor.
pub fn identity() -> String {
    let host = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    let host = host.or_else(|| fs::read_to_string("/proc/sys/kernel/hostname").ok());
    let host = host.unwrap_or_default();
    let (process, start) = (std::process::id(), crate::clock::now().as_nanosecond());
    format!("{}_{process}_{start:x}", host.trim())
}
