//! Keeps copies where they should be, and in step.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use futures::{StreamExt, stream};
use kube::Client;
use olm_effect::Outcome;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_kit::live;
use olm_kit::queue::Queue;
use olm_lifecycle::copied_csv::{Fingerprint, Prototype, disabled_note, has_concluded};
use olm_opgroup::NamespaceSet;
use olm_types::api::ClusterServiceVersion;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::observe::{CopyTarget, Observed, deletions, observe};
use super::targets::{AT_HAND, AT_ONCE, Due, Targets, due};
use super::{Claims, CopyKey};
use crate::originals::Originals;
use crate::status_delay::StatusDelay;
use crate::stores::Stores;

/// How long copies of an original that never stands still are held back: longer than most installs take, which
/// end with a status that copies show at once.
pub const LONGEST: Duration = Duration::from_secs(10);

/// Reconciles copies.
pub struct CopyReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// Where whole originals are read.
    pub client: Client,
    /// What copies should look like.
    pub originals: Originals,
    /// Namespaces that have copies even when copying is off.
    pub protected: BTreeSet<String>,
    /// Originals of which an event has said that they are not copied, by their uid.
    pub announced: Arc<DashMap<ObjectKey, String>>,
    /// Statuses of originals that are on their way to another.
    pub status_delay: StatusDelay<ObjectKey>,
    /// Statuses of originals that wait to be written.
    pub refreshes: StatusDelay<ObjectKey>,
    /// Where looks at all copies are asked for.
    pub queue: Queue<CopyKey>,
    /// Who writes to which copy.
    pub claims: Claims,
    /// [`AT_ONCE`] of them.
    pub permits: Arc<Semaphore>,
}

#[async_trait]
impl Reconciler<CopyKey> for CopyReconciler {
    async fn reconcile(&self, key: &CopyKey) -> Result<Conclusion, ReconcileError> {
        // What is being written is looked at when that is done.
        let target = key.target.as_deref();
        if target.is_some_and(|target| self.claims.enter(&key.origin, target).is_none()) {
            return Ok(Conclusion::Done);
        }
        let observed = observe(&self.stores, &self.protected, key);
        self.announce(key, &observed).await;
        let known = observed.origin.as_ref().and_then(|csv| self.originals.fingerprint(csv));
        let (going, mut due) = due(key, &observed, known);
        let outcomes = self.remove(&going).await;
        let left = self.left(&observed, known, &due);
        if !left.is_zero() {
            // A copy begins to exist with a status that lasts, and leaves the API server to its original.
            due.retain(|due| !due.is_missing());
            due.iter_mut().for_each(|due| due.lack.status = false);
        }
        if let Some(origin) = &observed.origin {
            self.bring(origin, &observed, due, left.is_zero()).await?;
        }
        ReconcileError::from_outcomes(&outcomes)?;
        Ok(self.conclude(key, left))
    }
}

impl CopyReconciler {
    /// For how long copies do not yet show the status of their original, of which this is `known`. One
    /// that has come to an end is shown at once; what it is on its way is shown when it lasts, and not while
    /// another one waits to take its place. What waits again and again does not hold it back for longer.
    fn left(&self, observed: &Observed, known: Option<Fingerprint>, due: &[Due<'_>]) -> Duration {
        let origin = observed.origin.as_deref().filter(|origin| !has_concluded(origin));
        let lacking = due.iter().any(|due| due.lack.status);
        let (Some(origin), Some(known), true) = (origin, known, lacking) else {
            return Duration::ZERO;
        };
        let (key, now) = (ObjectKey::of(origin), Instant::now());
        let left = self.status_delay.left(key.clone(), known.status, now);
        let refresh = self.refreshes.waits(&key, now).unwrap_or_default();
        left.max(refresh.min(self.status_delay.longest_left(&key, now)))
    }

    /// All copies show together what lasted.
    fn conclude(&self, key: &CopyKey, left: Duration) -> Conclusion {
        match (&key.target, left.is_zero()) {
            (None, true) => self.status_delay.forget(&key.origin),
            (None, false) => return Conclusion::RequeueAfter(left),
            (Some(_), true) => {}
            (Some(_), false) => self.queue.add_after(CopyKey::all(key.origin.clone()), left),
        }
        Conclusion::Done
    }

    /// Deletes copies, several at a time. One that is refused does not keep others.
    async fn remove(&self, going: &[&CopyTarget]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for going in going.chunks(AT_HAND) {
            let work: Vec<_> = going.iter().map(|place| self.remove_one(place)).collect();
            let done: Vec<_> = stream::iter(work).buffer_unordered(AT_ONCE).collect().await;
            outcomes.extend(done.into_iter().flatten());
        }
        outcomes
    }

    async fn remove_one(&self, place: &CopyTarget) -> Vec<Outcome> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        self.interpreter.execute(&deletions(&self.stores, place)).await
    }

    /// Creates and refreshes copies. The whole original is read at most once.
    async fn bring(
        &self,
        origin: &Arc<ClusterServiceVersion>,
        observed: &Observed,
        due: Vec<Due<'_>>,
        shows_status: bool,
    ) -> Result<(), ReconcileError> {
        if due.is_empty() {
            return Ok(());
        }
        let whole = match due.iter().any(|due| due.lack.is_some()) {
            true => match self.whole(origin).await? {
                Some(whole) => Some(whole),
                // Gone or made anew: its own event leads to another look.
                None => return Ok(()),
            },
            false => None,
        };
        // Of a newer version it is not known yet whether it lasts: its own event leads to another look.
        let lasts = |whole: &ClusterServiceVersion| {
            has_concluded(whole)
                || shows_status
                    && whole.metadata.resource_version == origin.metadata.resource_version
        };
        let global = observed.given.as_ref().is_none_or(NamespaceSet::is_all);
        let targets = Targets {
            stores: &self.stores,
            interpreter: &self.interpreter,
            origin,
            shows_status: whole.as_ref().is_some_and(lasts),
            prototype: whole.as_ref().map(Prototype::of),
            copies_rights: !global,
            claims: &self.claims,
            permits: &self.permits,
        };
        targets.write_all(&due).await
    }

    async fn whole(
        &self,
        origin: &ClusterServiceVersion,
    ) -> Result<Option<ClusterServiceVersion>, ReconcileError> {
        let namespace = origin.metadata.namespace.as_deref().unwrap_or_default();
        let name = origin.metadata.name.as_deref().unwrap_or_default();
        let whole = live::get(&self.client, Some(namespace), name).await?;
        Ok(whole.filter(|whole: &ClusterServiceVersion| whole.metadata.uid == origin.metadata.uid))
    }

    /// Says once that a CSV is not copied because copying is off.
    async fn announce(&self, key: &CopyKey, observed: &Observed) {
        let global = observed.given.as_ref().is_some_and(NamespaceSet::is_all);
        let disabled = global && !observed.copying.enabled;
        let Some(origin) = observed.origin.as_ref().filter(|_| disabled) else {
            self.announced.remove(&key.origin);
            return;
        };
        let uid = origin.metadata.uid.clone().unwrap_or_default();
        if self.announced.insert(key.origin.clone(), uid.clone()).as_ref() != Some(&uid) {
            self.interpreter.execute(&[disabled_note(origin)]).await;
        }
    }
}
