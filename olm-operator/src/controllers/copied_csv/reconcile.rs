//! Keeps copies where they should be, and in step.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use dashmap::DashMap;
use futures::{StreamExt, stream};
use kube::{Api, Client};
use olm_effect::Outcome;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::copied_csv::{Prototype, disabled_note};
use olm_opgroup::NamespaceSet;
use olm_types::api::ClusterServiceVersion;

use super::CopyKey;
use super::observe::{Observed, Place, deletions, observe};
use super::targets::{AT_HAND, AT_ONCE, Due, Targets, due};
use crate::originals::Originals;
use crate::stores::Stores;

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
}

#[async_trait]
impl Reconciler<CopyKey> for CopyReconciler {
    async fn reconcile(&self, key: &CopyKey) -> Result<Conclusion, ReconcileError> {
        let observed = observe(&self.stores, &self.protected, key);
        self.announce(key, &observed).await;
        let known = observed.origin.as_ref().and_then(|csv| self.originals.fingerprint(csv));
        let (going, due) = due(key, &observed, known);
        let outcomes = self.remove(&going).await;
        if let Some(origin) = &observed.origin {
            self.bring(origin, &observed, due).await?;
        }
        ReconcileError::from_outcomes(&outcomes)?;
        Ok(Conclusion::Done)
    }
}

impl CopyReconciler {
    /// Deletes copies, several at a time. One that is refused does not keep others.
    async fn remove(&self, going: &[&Place]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for going in going.chunks(AT_HAND) {
            let work: Vec<_> = going.iter().map(|place| self.remove_one(place)).collect();
            let done: Vec<_> = stream::iter(work).buffer_unordered(AT_ONCE).collect().await;
            outcomes.extend(done.into_iter().flatten());
        }
        outcomes
    }

    async fn remove_one(&self, place: &Place) -> Vec<Outcome> {
        self.interpreter.execute(&deletions(&self.stores, place)).await
    }

    /// Creates and refreshes copies. The whole original is read at most once.
    async fn bring(
        &self,
        origin: &Arc<ClusterServiceVersion>,
        observed: &Observed,
        due: Vec<Due<'_>>,
    ) -> Result<(), ReconcileError> {
        if due.is_empty() {
            return Ok(());
        }
        let prototype = match due.iter().any(|due| due.is_out_of_step) {
            true => match self.whole(origin).await? {
                Some(whole) => Some(Prototype::of(&whole)),
                // Gone or made anew: its own event leads to another look.
                None => return Ok(()),
            },
            false => None,
        };
        let global = observed.given.as_ref().is_none_or(NamespaceSet::is_all);
        let targets = Targets {
            stores: &self.stores,
            interpreter: &self.interpreter,
            origin,
            prototype,
            copies_rights: !global,
        };
        targets.bring_all(&due).await
    }

    async fn whole(
        &self,
        origin: &ClusterServiceVersion,
    ) -> Result<Option<ClusterServiceVersion>, ReconcileError> {
        let namespace = origin.metadata.namespace.as_deref().unwrap_or_default();
        let name = origin.metadata.name.as_deref().unwrap_or_default();
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), namespace);
        let whole = csvs.get_opt(name).await?;
        Ok(whole.filter(|whole| whole.metadata.uid == origin.metadata.uid))
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
