//! The only place that writes to the cluster.
//!
//! An [`Interpreter`] executes effects in order and returns one outcome per effect. It stops at
//! the first refusal; what follows is `Skipped`. Creations of one kind that follow each other are sent
//! together, because none of them waits for another. An effect that would change nothing is not sent.
//! Objects that the API server returns go to the registered stores, so that the process sees its
//! own writes at once, and no write is sent that could only conflict with one of them. It never looks
//! up what an effect probably meant: everything it needs is in the effect.
//!
//! Events are different: a lost event is logged and never stops anything.

mod call;
mod difference;
mod executed;
mod identity;
mod object_locks;
mod options;
mod parallel;
mod recent_writes;
mod response;
mod stop;
mod strategic;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use kube::Client;
use olm_effect::{Action, Effect, EventNote, Identity, Outcome, Refusal, Resource, Target};
use parking_lot::RwLock;
use serde_json::Value;
use tokio::time::Instant;

use crate::cause;
use crate::controller::ReconcileError;
use crate::events::Recorder;
use crate::watch::WrittenStore;

pub use executed::Executed;
pub use identity::{TokenRequests, TokenSource};
pub use options::InterpreterOptions;
pub use response::refusal_of;
pub use stop::{CRASH_EXIT_CODE, ExitProcess, StopPoint};

use call::Call;
use executed::{action_name, outcome_name};
use object_locks::{ObjectLocks, gone, outdated};
use recent_writes::RecentWrites;
use response::{ApiResponse, not_leading};
use stop::WriteCounter;

/// Executes effects. Clones share the client, the stores and the write counter.
#[derive(Clone)]
pub struct Interpreter {
    inner: Arc<Inner>,
    /// Namespace of the object on whose behalf it acts; only accounts of this one may act.
    behalf: Option<Arc<str>>,
}

struct Inner {
    client: Client,
    anonymous: Option<Client>,
    tokens: Option<Arc<dyn TokenSource>>,
    recorder: Recorder,
    writes: WriteCounter,
    stores: RwLock<BTreeMap<Resource, Vec<Arc<dyn WrittenStore>>>>,
    object_locks: ObjectLocks,
    recent_writes: RecentWrites,
    options: InterpreterOptions,
}

impl Interpreter {
    /// An interpreter that acts with `client`.
    pub fn new(client: Client, options: InterpreterOptions) -> Self {
        let recorder = Recorder::new(client.clone(), &options.component);
        let inner = Inner {
            client,
            anonymous: options.anonymous.clone(),
            tokens: options.tokens.clone(),
            recorder,
            writes: WriteCounter::new(options.stop_after_writes, options.stop_point.clone()),
            stores: RwLock::default(),
            object_locks: ObjectLocks::default(),
            recent_writes: RecentWrites::default(),
            options,
        };
        Self { inner: Arc::new(inner), behalf: None }
    }

    /// The same, on behalf of an object of a namespace: accounts of this namespace may act for it.
    /// Without that no account acts, whatever an effect says.
    #[must_use]
    pub fn on_behalf_of(&self, namespace: &str) -> Self {
        Self { inner: Arc::clone(&self.inner), behalf: Some(namespace.into()) }
    }

    /// Hands written objects of `resource` to `store` from now on.
    #[must_use]
    pub fn with_store(self, resource: Resource, store: impl WrittenStore + 'static) -> Self {
        self.with_shared_store(resource, Arc::new(store))
    }

    /// The same for a store of any type.
    #[must_use]
    pub(crate) fn with_shared_store(
        self,
        resource: Resource,
        store: Arc<dyn WrittenStore>,
    ) -> Self {
        self.inner.stores.write().entry(resource).or_default().push(store);
        self
    }

    /// Executes `effects` in order; one outcome per effect.
    pub async fn execute(&self, effects: &[Effect]) -> Vec<Outcome> {
        let executed = self.execute_with_warnings(effects).await;
        executed.into_iter().map(|executed| executed.outcome).collect()
    }

    /// The same where outcomes do not matter.
    ///
    /// # Errors
    /// The first refusal.
    pub async fn act(&self, effects: &[Effect]) -> Result<(), ReconcileError> {
        ReconcileError::from_outcomes(&self.execute(effects).await)
    }

    /// The same, with what the API server warned about: the texts of `Warning` headers.
    pub async fn execute_with_warnings(&self, effects: &[Effect]) -> Vec<Executed> {
        let mut results: Vec<Executed> = Vec::with_capacity(effects.len());
        let mut refused = false;
        while let Some(left) = effects.get(results.len()..).filter(|left| !left.is_empty()) {
            if refused {
                results.extend(left.iter().map(|_| Executed::without_write(Outcome::Skipped)));
                break;
            }
            let together = parallel::first(left).iter().map(|effect| self.one(effect));
            let executed = join_all(together).await;
            refused = executed.iter().any(|executed| executed.outcome.refusal().is_some());
            results.extend(executed);
        }
        results
    }

    /// Effects that wrote to the cluster since the process began.
    pub fn writes(&self) -> u64 {
        self.inner.writes.count()
    }

    async fn one(&self, effect: &Effect) -> Executed {
        let executed = match &effect.action {
            Action::Event(note) if self.inner.options.leadership.may_write() => {
                self.record(&effect.target, note).await
            }
            Action::Event(_) => Executed::without_write(Outcome::Unchanged),
            action if difference::is_none(action) => Executed::without_write(Outcome::Unchanged),
            _ if !self.inner.options.leadership.may_write() => {
                Executed::without_write(Outcome::Refused(not_leading()))
            }
            action => self.call(effect, action).await,
        };
        self.note(effect, &executed);
        if executed.wrote {
            cause::note_effect();
            self.inner.writes.wrote(effect);
        }
        executed
    }

    async fn record(&self, target: &Target, note: &EventNote) -> Executed {
        match self.inner.recorder.record(target, note).await {
            Some(event) => Executed::writing(Outcome::Created(event)),
            None => Executed::without_write(Outcome::Unchanged),
        }
    }

    async fn call(&self, effect: &Effect, action: &Action) -> Executed {
        let _lock = match action {
            // Nothing is known of an object that is not there yet.
            Action::Create(_) => None,
            _ => Some(self.inner.object_locks.enter(&effect.target).await),
        };
        let stored = self.stored_version(&effect.target);
        let recent = || self.inner.recent_writes.version_of(&effect.target, Instant::now());
        let newest = stored.clone().or_else(recent);
        let outdated = outdated(&effect.target, action, newest.as_deref());
        let gone = || gone(&effect.target, action, self.gone_at(&effect.target).as_deref());
        if let Some(refusal) = outdated.or_else(gone) {
            return Executed::without_write(Outcome::Refused(refusal));
        }
        // By the version before the call a write that changed nothing is recognised.
        let observed = difference::observed(action).and_then(difference::version);
        let known = observed.map(str::to_owned).or(stored);
        match self.send(effect, action).await {
            Ok(answer) => {
                let executed = answer.conclude(action, known.as_deref());
                if let Outcome::Created(object) | Outcome::Changed(object) = &executed.outcome {
                    self.insert_written(&effect.target, object);
                }
                executed
            }
            Err(refusal) => Executed::without_write(Outcome::Refused(refusal)),
        }
    }

    async fn send(&self, effect: &Effect, action: &Action) -> Result<ApiResponse, Refusal> {
        let call = Call::new(&effect.target, action, &self.inner.options.field_manager)?;
        match &effect.identity {
            Identity::Own => call.send(&self.inner.client, None).await,
            Identity::ServiceAccount { namespace, name } => {
                let (anonymous, tokens) = self.inner.accounts()?;
                if self.behalf.as_deref() != Some(namespace) {
                    return Err(foreign_account(namespace, name, self.behalf.as_deref()));
                }
                let token = tokens.token(namespace, name).await?;
                let answer = call.send(anonymous, Some(&token)).await?;
                if answer.is_unauthenticated() {
                    tokens.reject(namespace, name);
                }
                Ok(answer)
            }
        }
    }

    /// The version of the object that was seen last.
    fn stored_version(&self, target: &Target) -> Option<String> {
        let stores = self.inner.stores.read();
        stores.get(&target.resource)?.iter().find_map(|store| store.version_of(target))
    }

    /// The version at which it was seen deleted, if no store has it again.
    fn gone_at(&self, target: &Target) -> Option<String> {
        let stores = self.inner.stores.read();
        let of_kind = stores.get(&target.resource)?;
        let is_there = of_kind.iter().any(|store| store.version_of(target).is_some());
        if is_there { None } else { of_kind.iter().find_map(|store| store.gone_at(target)) }
    }

    /// Hands a written object to the stores of its kind; of one that has none the version is known for a while.
    fn insert_written(&self, target: &Target, object: &Value) {
        let stores = self.inner.stores.read().get(&target.resource).cloned().unwrap_or_default();
        if let (true, Some(version)) = (stores.is_empty(), difference::version(object)) {
            self.inner.recent_writes.note(target, version, Instant::now());
        }
        stores.iter().for_each(|store| store.absorb_value(object));
    }

    fn note(&self, effect: &Effect, executed: &Executed) {
        let (action, outcome) = (action_name(&effect.action), outcome_name(&executed.outcome));
        if let Some(metrics) = &self.inner.options.metrics {
            metrics.observe(&effect.target.resource.kind, action, outcome);
        }
        match &executed.outcome {
            Outcome::Refused(refusal) if refusal.is_conflict() => {
                tracing::debug!(object = %effect.target, action, %refusal, "conflict");
            }
            Outcome::Refused(refusal) => {
                let (code, reason) = (refusal.code, &refusal.reason);
                tracing::warn!(object = %effect.target, action, code, reason, %refusal, "refused");
            }
            _ => tracing::debug!(object = %effect.target, action, outcome, wrote = executed.wrote),
        }
    }
}

/// A token is asked for only in the namespace of the object that it acts for.
fn foreign_account(namespace: &str, name: &str, behalf: Option<&str>) -> Refusal {
    let behalf = behalf.unwrap_or("the cluster");
    Refusal {
        code: 403,
        reason: "Forbidden".to_owned(),
        message: format!(
            "service account {namespace}/{name} may not act for an object of {behalf}; name one of \
             that namespace in spec.serviceAccountName of its OperatorGroup"
        ),
    }
}

impl Inner {
    fn accounts(&self) -> Result<(&Client, &dyn TokenSource), Refusal> {
        match (&self.anonymous, &self.tokens) {
            (Some(client), Some(tokens)) => Ok((client, tokens.as_ref())),
            _ => Err(Refusal {
                code: 403,
                reason: "Forbidden".to_owned(),
                message: "this process cannot act as a service account".to_owned(),
            }),
        }
    }
}
