//! The copies of one original, namespace by namespace.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use olm_effect::{Effect, Outcome, Refusal};
use olm_kit::ObjectKey;
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::copied_csv::{
    CopiedCsv, Desired, Fingerprint, OutdatedParts, Prototype, decide_rights, desired,
};
use olm_rbac::CopyOwner;
use olm_types::api::ClusterServiceVersion;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::observe::{CopyTarget, Observed, rights};
use super::{Claims, CopyKey};
use crate::stores::Stores;

/// Namespaces that are written to at the same time, for all originals together. More would only wait
/// in the API server, and each holds its request, the answer and a connection in memory.
pub const AT_ONCE: usize = 8;

/// Namespaces of which the work is prepared at a time: prepared for thousands, it would need more
/// memory than all copies.
pub const AT_HAND: usize = 64;

/// A namespace that should have a copy.
pub struct Due<'a> {
    place: &'a CopyTarget,
    /// What of the copy has to be written; if nothing, its rights may.
    pub lack: OutdatedParts,
}

impl Due<'_> {
    /// Whether there is no copy yet.
    pub fn is_missing(&self) -> bool {
        self.place.copy.is_none()
    }

    /// Name of the namespace.
    #[cfg(test)]
    pub fn namespace(&self) -> &str {
        &self.place.namespace
    }
}

/// What follows from the observed: namespaces whose copy has to go, and namespaces that should have one.
/// `known` is what copies in step look like.
pub fn due<'a>(
    key: &CopyKey,
    observed: &'a Observed,
    known: Option<Fingerprint>,
) -> (Vec<&'a CopyTarget>, Vec<Due<'a>>) {
    let home = key.origin.namespace.as_deref().unwrap_or_default();
    let (mut going, mut dues) = (Vec::new(), Vec::new());
    for place in &observed.places {
        let copy = place.copy.as_deref();
        if copy.is_some_and(|copy| copy.origin() != home) {
            continue;
        }
        // A copy that does not say where its operator is has no owner.
        let is_orphan = copy.is_some_and(|copy| !copy.names_operator);
        let (origin, given) = (observed.origin.as_deref(), observed.given.as_ref());
        match desired(origin, given, &place.namespace, &observed.copying) {
            _ if is_orphan => going.push(place),
            Desired::Absent => going.push(place),
            Desired::Present if !place.is_closed => {
                let found = copy.map(|copy| copy.fingerprint);
                let lack = known.map_or(OutdatedParts::ALL, |known| known.lack(found));
                dues.push(Due { place, lack });
            }
            Desired::Present | Desired::Leave => {}
        }
    }
    going.retain(|place| match &place.copy {
        Some(copy) => !copy.is_going,
        None => !place.left_over.is_empty(),
    });
    (going, dues)
}

/// How the copies of an original are brought about.
pub struct Targets<'a> {
    pub stores: &'a Stores,
    pub interpreter: &'a Interpreter,
    pub origin: &'a Arc<ClusterServiceVersion>,
    /// What a copy looks like; needed where one is out of step.
    pub prototype: Option<Prototype>,
    /// Whether copies show the status of the prototype; if not, it is written later.
    pub shows_status: bool,
    /// Whether rights go with the copies.
    pub copies_rights: bool,
    /// Who writes to which copy.
    pub claims: &'a Claims,
    /// One for each namespace that may be written to at the same time.
    pub permits: &'a Semaphore,
}

impl Targets<'_> {
    /// Brings all copies in step. One that fails does not keep others waiting; the first failure
    /// is the answer.
    pub async fn write_all(&self, dues: &[Due<'_>]) -> Result<(), ReconcileError> {
        let mut first = Ok(());
        for dues in dues.chunks(AT_HAND) {
            let work: Vec<_> = dues.iter().map(|due| self.bring(due.place)).collect();
            let results: Vec<_> = stream::iter(work).buffer_unordered(AT_ONCE).collect().await;
            first = results.into_iter().fold(first, Result::and);
        }
        first
    }

    async fn bring(&self, place: &CopyTarget) -> Result<(), ReconcileError> {
        let _permit = self.permits.acquire().await.map_err(ReconcileError::other)?;
        let origin = ObjectKey::of(self.origin.as_ref());
        let Some(_claim) = self.claims.enter(&origin, &place.namespace) else { return Ok(()) };
        let uid = self.bring_copy(place).await?;
        if !self.copies_rights {
            return Ok(());
        }
        let (Some(uid), Some(strategy)) = (uid, &self.origin.spec.install.spec) else {
            return Ok(());
        };
        let metadata = &self.origin.metadata;
        let owner = CopyOwner {
            origin: metadata.namespace.as_deref().unwrap_or_default(),
            namespace: &place.namespace,
            name: metadata.name.as_deref().unwrap_or_default(),
            uid: &uid,
        };
        let rights = rights(self.stores, self.origin, &place.namespace);
        let origin_uid = metadata.uid.as_deref().unwrap_or_default();
        let effects = decide_rights(strategy, origin_uid, owner, &rights);
        self.interpreter.act(&effects).await
    }

    /// Writes what differs: first the object, then its status. The uid of the copy, which is seen as
    /// whoever had the claim before has left it.
    async fn bring_copy(&self, place: &CopyTarget) -> Result<Option<String>, ReconcileError> {
        let name = self.origin.metadata.name.as_deref().unwrap_or_default();
        let seen = self.stores.copies.get(Some(&place.namespace), name);
        let seen: Option<&CopiedCsv> = seen.as_deref().map(|kept| &**kept);
        let Some(prototype) = &self.prototype else {
            return Ok(seen.map(|copy| copy.uid().to_owned()));
        };
        let lack = prototype.fingerprint().lack(seen.map(|copy| copy.fingerprint));
        let (uid, version) = match seen {
            None => written(self.one(prototype.create(&place.namespace)).await?, None)?,
            Some(copy) if lack.object => {
                written(self.one(prototype.replace(copy)).await?, Some(copy))?
            }
            Some(copy) => written(Outcome::Unchanged, Some(copy))?,
        };
        if lack.status && self.shows_status {
            let outcome = self.one(prototype.status(&place.namespace, &version)).await?;
            ReconcileError::from_outcomes(&[outcome])?;
        }
        Ok(Some(uid))
    }

    async fn one(&self, effect: Effect) -> Result<Outcome, ReconcileError> {
        let mut outcomes = self.interpreter.execute(&[effect]).await;
        outcomes.pop().ok_or_else(|| ReconcileError::message("an effect has no outcome"))
    }
}

/// uid and resourceVersion after a write.
fn written(outcome: Outcome, seen: Option<&CopiedCsv>) -> Result<(String, String), ReconcileError> {
    let of = |object: &Value, field: &str| {
        object.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    match (outcome, seen) {
        (Outcome::Created(object) | Outcome::Changed(object), _) => {
            Ok((of(&object, "/metadata/uid"), of(&object, "/metadata/resourceVersion")))
        }
        (Outcome::Unchanged, Some(copy)) => Ok((copy.uid().to_owned(), copy.version().to_owned())),
        (Outcome::Refused(refusal), _) => Err(refusal.into()),
        // Observed too early or too late: the watch will report it.
        (other, _) => Err(Refusal {
            code: 409,
            reason: "Conflict".to_owned(),
            message: format!("the copy is not as it was seen: {other:?}"),
        }
        .into()),
    }
}
