//! States of a connection and what leads from one to the next.
//!
//! The names are those of gRPC, because v0 shows them in `status.connectionState`. A connection
//! that failed stays TRANSIENT_FAILURE while it is tried again, so that a dead catalog does not
//! make its status flap.

use std::fmt;
use std::sync::Arc;

/// State of a connection to a registry server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionState {
    /// Nothing was tried yet, or the last connection ended.
    #[default]
    Idle,
    /// The first attempt, or the first after a loss, is under way.
    Connecting,
    /// The server answers.
    Ready,
    /// The last attempt failed; more follow with growing delays.
    TransientFailure,
    /// The connection was given up by its owner. Final.
    Shutdown,
}

/// State of a connection with its history in one number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStatus {
    /// The state.
    pub state: ConnectionState,
    /// How often the state became READY. It grows when the server was replaced by another one
    /// behind the same address, even if the short loss went unseen.
    pub generation: u64,
    /// Why it is not READY, for people.
    pub reason: Option<Arc<str>>,
}

/// Something that happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// An attempt begins.
    Dial,
    /// The server answered.
    Answered,
    /// The attempt failed, with the reason.
    Failed(Arc<str>),
    /// The transport of a READY connection ended.
    Lost,
    /// The owner gave the connection up.
    Closed,
}

impl ConnectionStatus {
    /// The status after an event.
    #[must_use]
    pub fn after(&self, event: &ConnectionEvent) -> Self {
        let state = self.state.after(event);
        let became_ready = state == ConnectionState::Ready && self.state != state;
        Self {
            state,
            generation: self.generation.saturating_add(u64::from(became_ready)),
            reason: match event {
                ConnectionEvent::Failed(reason) => Some(Arc::clone(reason)),
                ConnectionEvent::Lost => Some("the connection was closed".into()),
                ConnectionEvent::Dial => self.reason.clone(),
                ConnectionEvent::Answered | ConnectionEvent::Closed => None,
            },
        }
    }
}

impl ConnectionState {
    /// The state after an event.
    #[must_use]
    pub fn after(self, event: &ConnectionEvent) -> Self {
        match (self, event) {
            (Self::Shutdown, _) | (_, ConnectionEvent::Closed) => Self::Shutdown,
            (_, ConnectionEvent::Answered) => Self::Ready,
            (_, ConnectionEvent::Failed(_)) => Self::TransientFailure,
            (Self::Idle | Self::Connecting, ConnectionEvent::Dial) => Self::Connecting,
            (Self::Ready, ConnectionEvent::Lost) => Self::Idle,
            (unmoved, ConnectionEvent::Dial | ConnectionEvent::Lost) => unmoved,
        }
    }

    /// The name as `status.connectionState.lastObservedState` shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "IDLE",
            Self::Connecting => "CONNECTING",
            Self::Ready => "READY",
            Self::TransientFailure => "TRANSIENT_FAILURE",
            Self::Shutdown => "SHUTDOWN",
        }
    }
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::ConnectionEvent::{Answered, Closed, Dial, Failed, Lost};
    use super::*;

    fn failed() -> ConnectionEvent {
        Failed("refused".into())
    }

    #[rstest]
    #[case::never_tried(&[], "IDLE", 0)]
    #[case::first_attempt(&[Dial], "CONNECTING", 0)]
    #[case::answered(&[Dial, Answered], "READY", 1)]
    #[case::answered_twice(&[Dial, Answered, Answered], "READY", 1)]
    #[case::refused(&[Dial, failed()], "TRANSIENT_FAILURE", 0)]
    #[case::refused_and_tried_again(&[Dial, failed(), Dial], "TRANSIENT_FAILURE", 0)]
    #[case::came_up(&[Dial, failed(), Dial, Answered], "READY", 1)]
    #[case::lost(&[Dial, Answered, Lost], "IDLE", 1)]
    #[case::lost_and_tried(&[Dial, Answered, Lost, Dial], "CONNECTING", 1)]
    #[case::replaced(&[Dial, Answered, Lost, Dial, Answered], "READY", 2)]
    #[case::loss_before_ready(&[Dial, Lost], "CONNECTING", 0)]
    #[case::closed_is_final(&[Dial, Closed, Dial, Answered], "SHUTDOWN", 0)]
    fn states(#[case] events: &[ConnectionEvent], #[case] state: &str, #[case] generation: u64) {
        let start = ConnectionStatus::default();
        let end = events.iter().fold(start, |status, event| status.after(event));
        assert_eq!((end.state.as_str(), end.generation), (state, generation));
    }

    #[test]
    fn a_reason_stays_until_the_server_answers() {
        let tried = ConnectionStatus::default().after(&failed()).after(&Dial);
        assert_eq!(tried.reason.as_deref(), Some("refused"));
        assert_eq!(tried.after(&Answered).reason, None);
    }
}
