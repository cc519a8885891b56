//! Whether a process has rivals at all, as its command line says.

use kube::Client;
use serde_json::{Value, json};

use super::identity::identity;
use super::{Election, Leadership, LeaseOptions};
use crate::tasks::Tasks;

/// Why a process cannot take part in an election.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CandidacyError {
    /// Nobody knows where the Lease is.
    #[error("--leader-elect needs --namespace, where the replicas share a Lease")]
    NoNamespace,
}

/// A process without rivals, or a replica that takes part in an election.
#[derive(Clone)]
pub struct Candidacy {
    election: Option<Election>,
    leadership: Leadership,
}

impl Candidacy {
    /// That of the operator `name`, installed in `namespace`; alone unless `elect`.
    ///
    /// # Errors
    /// An election needs a namespace.
    pub fn new(
        elect: bool,
        client: &Client,
        namespace: &str,
        name: &str,
    ) -> Result<Self, CandidacyError> {
        if !elect {
            return Ok(Self { election: None, leadership: Leadership::alone() });
        }
        if namespace.is_empty() {
            return Err(CandidacyError::NoNamespace);
        }
        let options = LeaseOptions::new(namespace, name, identity());
        let election = Election::new(client.clone(), options);
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

    /// Takes part from now on; see [`Election::start`].
    pub fn start(&self, tasks: &Tasks) {
        if let Some(election) = &self.election {
            election.start(tasks);
        }
    }

    /// Lets others take over at once; see [`Election::release`].
    pub async fn release(&self) {
        if let Some(election) = &self.election {
            election.release().await;
        }
    }
}
