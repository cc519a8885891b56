//! Whether a process takes part in a leader election, as its command line says.

use std::sync::Arc;

use serde_json::{Value, json};

use super::identity;
use super::{Election, LeaderError, Leadership, LeaseOptions};
use crate::client::{ConnectError, Connector};
use crate::tasks::Tasks;

/// Why a process cannot take part in an election.
#[derive(Debug, thiserror::Error)]
pub enum ParticipantError {
    /// The namespace of the Lease is not known.
    #[error("--leader-elect needs --namespace, where the replicas share a Lease")]
    NoNamespace,
    /// There is no client for the Lease.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// Exit code of a replica that lost its Lease.
pub const DEPOSED_EXIT_CODE: i32 = 1;

/// A process that runs alone, or a replica that takes part in an election.
#[derive(Clone)]
pub struct Participant {
    election: Option<Election>,
    leadership: Leadership,
}

impl Participant {
    /// That of the operator `name`, installed in `namespace`; alone unless `elect`. The Lease has a
    /// client of its own, which writes without leading.
    ///
    /// # Errors
    /// An election needs a namespace, and a configuration that makes a client.
    pub fn new(
        elect: bool,
        connector: &Connector,
        namespace: &str,
        name: &str,
    ) -> Result<Self, ParticipantError> {
        if !elect {
            return Ok(Self { election: None, leadership: Leadership::alone() });
        }
        if namespace.is_empty() {
            return Err(ParticipantError::NoNamespace);
        }
        let options = LeaseOptions::new(namespace, name, identity());
        let election = Election::new(connector.client()?, options);
        Ok(Self { leadership: election.leadership(), election: Some(election) })
    }

    /// Whether this replica acts.
    pub fn leadership(&self) -> &Leadership {
        &self.leadership
    }

    /// Who leads, for `/debug/state`; a process without rivals says that it has none.
    pub fn state(&self) -> Value {
        match &self.election {
            Some(election) => election.state(),
            None => json!({"lease": null, "leads": true}),
        }
    }

    /// Takes part from now on; see [`Election::start`]. The process ends at once when it loses its
    /// Lease: what goes on in it was decided by a leader, and another one is there.
    pub fn start(&self, tasks: &Tasks) {
        if let Some(election) = &self.election {
            election.start(tasks, Arc::new(deposed));
        }
    }

    /// Lets others take over at once; see [`Election::release`].
    pub async fn release(&self) {
        if let Some(election) = &self.election {
            election.release().await;
        }
    }
}

/// Ends the process; nothing is drained, as nothing may be written.
fn deposed(lost: &LeaderError) {
    tracing::error!(error = %lost, "ending at once");
    std::process::exit(DEPOSED_EXIT_CODE);
}
