//! Reads and writes the Lease, again and again.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::PostParams;
use kube::core::ObjectMeta;
use kube::{Api, Client};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::decision::{LeaseDecision, View, decide, holder, released};
use super::{Leadership, LeaseOptions};
use crate::clock;
use crate::tasks::{Gate, Tasks, contained};

/// Name of the task, and of the gate of readiness that opens once the Lease is known.
const NAME: &str = "leader election";

/// What a replica does once it has lost its Lease; a program ends.
pub type Ending = Arc<dyn Fn(&LeaderError) + Send + Sync>;

/// Why a replica ends.
#[derive(Debug, thiserror::Error)]
pub enum LeaderError {
    /// The Lease could not be renewed in time.
    #[error("the lease {lease} was not renewed for {deadline:?}, another replica may lead now")]
    Silent {
        /// Namespace and name.
        lease: String,
        /// The time that was over.
        deadline: Duration,
    },
    /// Another replica holds the Lease that this replica held.
    #[error("the lease {lease} was taken by {holder}")]
    Taken {
        /// Namespace and name.
        lease: String,
        /// Who holds it.
        holder: String,
    },
}

/// Takes part in the election of a leader.
#[derive(Clone)]
pub struct Election {
    leases: Api<Lease>,
    options: LeaseOptions,
    leadership: Leadership,
    /// Who held the Lease at the last look, for people.
    holder: Arc<Mutex<Option<String>>>,
}

/// The Lease as it was seen last.
struct ObservedLease {
    lease: Option<Lease>,
    since: Instant,
}

impl Election {
    /// An election over the Lease of `options`.
    pub fn new(client: Client, options: LeaseOptions) -> Self {
        let leases = Api::namespaced(client, &options.namespace);
        Self { leases, options, leadership: Leadership::awaited(), holder: Arc::default() }
    }

    /// Whether this replica acts.
    pub fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// What is known of the Lease, for people.
    pub(super) fn state(&self) -> Value {
        json!({
            "lease": self.lease(),
            "identity": self.options.identity,
            "holder": *self.holder.lock(),
            "leads": self.leadership.is_leader(),
            "may_write": self.leadership.may_write(),
        })
    }

    /// Takes part as a critical task, and calls `ending` when a leader loses its Lease, while tasks
    /// are drained, too. Readiness waits until the Lease was seen.
    pub fn start(&self, tasks: &Tasks, ending: Ending) {
        let (election, token) = (self.clone(), tasks.token());
        let known = tasks.readiness().gate(NAME);
        tasks.spawn_fallible(NAME, async move {
            let lost = tokio::select! {
                biased;
                lost = election.lapse() => lost,
                lost = election.run(&known) => lost,
                () = token.cancelled() => {
                    contained(NAME, async move { election.drain(&ending).await });
                    return Ok(());
                }
            };
            ending(&lost);
            Err(lost)
        });
    }

    /// Lets others take over at once. To be called when nothing writes any more.
    pub async fn release(&self) {
        if !self.leadership.may_write() {
            return;
        }
        self.leadership.give_up();
        match timeout(self.options.retry, self.leave()).await {
            Ok(Ok(())) => tracing::info!(lease = self.lease(), "released the lease"),
            Ok(Err(error)) => tracing::warn!(lease = self.lease(), %error, "lease not released"),
            Err(_) => tracing::warn!(lease = self.lease(), "the lease was not released in time"),
        }
    }

    /// Ends when this replica led and its Lease ran out.
    async fn lapse(&self) -> LeaderError {
        self.leadership.acquired().await;
        self.leadership.lapsed().await;
        LeaderError::Silent { lease: self.lease(), deadline: self.options.deadline }
    }

    /// The Lease is not renewed while tasks are drained: when it runs out, that is over, too.
    async fn drain(&self, ending: &Ending) {
        if self.leadership.may_write() {
            let lapsed = self.lapse().await;
            if !self.leadership.has_given_up() {
                ending(&lapsed);
            }
        }
    }

    /// Ends when another replica took the Lease of this one.
    async fn run(&self, known: &Gate) -> LeaderError {
        let mut seen = ObservedLease { lease: None, since: Instant::now() };
        loop {
            match timeout(self.options.deadline, self.round(&mut seen)).await {
                Ok(Ok(())) => {
                    *self.holder.lock() = holder_of(seen.lease.as_ref()).map(str::to_owned);
                    known.open();
                }
                Ok(Err(RoundError::Lost(lost))) => return lost,
                Ok(Err(RoundError::Api(error))) => {
                    tracing::warn!(lease = self.lease(), %error, "cannot look after the lease");
                }
                Err(_) => tracing::warn!(lease = self.lease(), "the API server does not answer"),
            }
            sleep(self.options.retry).await;
        }
    }

    /// Reads the Lease once, and writes it if this replica holds it or may take it.
    async fn round(&self, seen: &mut ObservedLease) -> Result<(), RoundError> {
        let sent = Instant::now();
        let found = self.leases.get_opt(&self.options.name).await?;
        // What an answer shows may be as young as the answer, however long it took.
        seen.update(found, Instant::now());
        let spec = seen.lease.as_ref().map(|lease| lease.spec.clone().unwrap_or_default());
        let view = View { spec: spec.as_ref(), unchanged: seen.since.elapsed() };
        match decide(view, &self.options, clock::now()) {
            LeaseDecision::Write(spec) => {
                let Some(written) = self.write(seen.lease.as_ref(), spec).await? else {
                    return Ok(());
                };
                seen.update(Some(written), sent);
                if !self.leadership.is_leader() {
                    let identity = &self.options.identity;
                    tracing::info!(lease = self.lease(), identity, "leading");
                }
                self.leadership.renewed(sent, self.options.deadline);
                Ok(())
            }
            LeaseDecision::Follow { holder } if self.leadership.is_leader() => {
                self.leadership.give_up();
                Err(RoundError::Lost(LeaderError::Taken { lease: self.lease(), holder }))
            }
            LeaseDecision::Follow { .. } => Ok(()),
        }
    }

    /// Writes the Lease; nothing when another replica was faster.
    async fn write(
        &self,
        former: Option<&Lease>,
        spec: LeaseSpec,
    ) -> Result<Option<Lease>, kube::Error> {
        let written = match former {
            Some(lease) => {
                let lease = Lease { metadata: lease.metadata.clone(), spec: Some(spec) };
                self.leases.replace(&self.options.name, &PostParams::default(), &lease).await
            }
            None => {
                let name = Some(self.options.name.clone());
                let metadata = ObjectMeta { name, ..ObjectMeta::default() };
                let lease = Lease { metadata, spec: Some(spec) };
                self.leases.create(&PostParams::default(), &lease).await
            }
        };
        match written {
            Ok(lease) => Ok(Some(lease)),
            // It was changed or created meanwhile: the next look shows by whom.
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn leave(&self) -> Result<(), kube::Error> {
        let Some(lease) = self.leases.get_opt(&self.options.name).await? else { return Ok(()) };
        let spec = lease.spec.clone().unwrap_or_default();
        if let Some(spec) = released(&spec, &self.options) {
            self.write(Some(&lease), spec).await?;
        }
        Ok(())
    }

    fn lease(&self) -> String {
        format!("{}/{}", self.options.namespace, self.options.name)
    }
}

impl ObservedLease {
    /// Remembers what was found, and since when it is known to be like that.
    fn update(&mut self, lease: Option<Lease>, now: Instant) {
        if version(lease.as_ref()) != version(self.lease.as_ref()) {
            let (former, holder) = (holder_of(self.lease.as_ref()), holder_of(lease.as_ref()));
            if holder != former {
                tracing::info!(holder = holder.unwrap_or("none"), "the lease has a new holder");
            }
            self.since = now;
        }
        self.lease = lease;
    }
}

fn holder_of(lease: Option<&Lease>) -> Option<&str> {
    holder(lease?.spec.as_ref()?)
}

/// Every write of an object gives it another version.
fn version(lease: Option<&Lease>) -> Option<&str> {
    lease?.metadata.resource_version.as_deref()
}

/// What may go wrong in one round.
#[derive(Debug, thiserror::Error)]
enum RoundError {
    #[error(transparent)]
    Api(#[from] kube::Error),
    #[error(transparent)]
    Lost(LeaderError),
}
