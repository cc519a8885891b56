//! How an interpreter is set up.

use std::sync::Arc;

use kube::Client;

use super::identity::TokenSource;
use super::stop::{ExitProcess, StopPoint};
use crate::client::{ConnectError, Connector};
use crate::interpreter::TokenRequests;
use crate::leader::Leadership;
use crate::metrics::InterpreterMetrics;

/// What an [`super::Interpreter`] needs besides a client.
#[derive(Clone)]
pub struct InterpreterOptions {
    /// Source component of events, and the name that logs of other tools show.
    pub component: String,
    /// Field manager of every write that does not name its own.
    pub field_manager: String,
    /// After how many effects that wrote the stop point is notified; never when absent.
    pub stop_after_writes: Option<u64>,
    /// What happens then; ends the process at once by default.
    pub stop_point: Arc<dyn StopPoint>,
    /// Client without credentials, for [`olm_effect::Identity::ServiceAccount`].
    pub anonymous: Option<Client>,
    /// Where tokens of service accounts come from.
    pub tokens: Option<Arc<dyn TokenSource>>,
    /// Where effects are counted.
    pub metrics: Option<InterpreterMetrics>,
    /// Whether this replica may write; always, unless there are others. What is refused for want of it
    /// is refused before anything is asked; clients look at it once more with every attempt.
    pub leadership: Leadership,
}

impl InterpreterOptions {
    /// Options for a binary of this name, which acts under its own identity only.
    pub fn new(component: &str) -> Self {
        Self {
            component: component.to_owned(),
            field_manager: component.to_owned(),
            stop_after_writes: None,
            stop_point: Arc::new(ExitProcess),
            anonymous: None,
            tokens: None,
            metrics: None,
            leadership: Leadership::alone(),
        }
    }

    /// The same, able to act as a service account through tokens that it requests.
    ///
    /// # Errors
    /// When the configuration does not make a client.
    pub fn with_accounts(mut self, connector: &Connector) -> Result<Self, ConnectError> {
        self.anonymous = Some(connector.anonymous()?);
        self.tokens = Some(Arc::new(TokenRequests::new(connector.client()?)));
        Ok(self)
    }

    /// The same, with a stop after `writes` effects that wrote.
    #[must_use]
    pub fn stop_after(mut self, writes: Option<u64>) -> Self {
        self.stop_after_writes = writes;
        self
    }

    /// The same, refusing to write while another replica leads.
    #[must_use]
    pub fn led_by(mut self, leadership: Leadership) -> Self {
        self.leadership = leadership;
        self
    }

    /// The same, counting into `metrics`.
    #[must_use]
    pub fn metrics(mut self, metrics: InterpreterMetrics) -> Self {
        self.metrics = Some(metrics);
        self
    }
}
