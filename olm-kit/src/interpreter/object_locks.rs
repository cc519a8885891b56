//! Writes to one object go out one after the other, each from the newest version that is known.
//!
//! Several controllers of a process write to the same objects. What one of them wrote is in the stores
//! when the next one is sent; a write that was decided on an older version could only conflict
//! with it, so it is refused before it is sent, and its reconcile begins anew from what is there.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use olm_effect::{Action, Refusal, Target};
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use super::difference::version;
use crate::watch::compare;

type Lock = Arc<tokio::sync::Mutex<()>>;

/// The objects that are being written to. Others take no memory.
#[derive(Clone, Default)]
pub(super) struct ObjectLocks {
    taken: Arc<Mutex<BTreeMap<Target, Lock>>>,
}

/// The right to write to one object, until this is dropped.
pub(super) struct ObjectLock {
    target: Target,
    of: ObjectLocks,
    guard: Option<OwnedMutexGuard<()>>,
}

impl ObjectLocks {
    /// Waits until no other write to the object is under way.
    pub(super) async fn enter(&self, target: &Target) -> ObjectLock {
        let lock = self.taken.lock().entry(target.clone()).or_default().clone();
        // Made before it waits, so that a write that is given up while waiting leaves, too.
        let mut held = ObjectLock { target: target.clone(), of: self.clone(), guard: None };
        held.guard = Some(lock.lock_owned().await);
        held
    }
}

impl Drop for ObjectLock {
    fn drop(&mut self) {
        drop(self.guard.take());
        let mut taken = self.of.taken.lock();
        // Who waits has a share of the lock, and gets it only while the map is held.
        if taken.get(&self.target).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            taken.remove(&self.target);
        }
    }
}

/// The refusal of a write that is guarded by an older version than the one that the stores know.
pub(super) fn outdated(target: &Target, action: &Action, known: Option<&str>) -> Option<Refusal> {
    let guard = guard(action)?;
    let known = known.filter(|known| compare(Some(guard), Some(known)) == Some(Ordering::Less))?;
    Some(Refusal {
        code: 409,
        reason: "Conflict".to_owned(),
        message: format!("{target} is at version {known}, and the write was for version {guard}"),
    })
}

/// The refusal of a write that is guarded by an older version than the one at which the stores saw the object
/// deleted. One that only left a watch with a selector, as its label was taken away, did so at the version that
/// it has since: a write for that version is sent.
pub(super) fn gone(target: &Target, action: &Action, gone: Option<&str>) -> Option<Refusal> {
    let guard = guard(action)?;
    let gone = gone.filter(|gone| compare(Some(guard), Some(gone)) == Some(Ordering::Less))?;
    Some(Refusal {
        code: 409,
        reason: "Conflict".to_owned(),
        message: format!(
            "{target} was deleted at version {gone}, and the write was for version {guard}"
        ),
    })
}

/// The `resourceVersion` that the object must have for the write to succeed.
fn guard(action: &Action) -> Option<&str> {
    let guard = match action {
        Action::Replace { object, .. }
        | Action::Status { object, .. }
        | Action::Apply { object, .. } => version(object),
        Action::MergePatch { patch, .. } | Action::StrategicPatch { patch, .. } => version(patch),
        Action::Create(_) | Action::Delete { .. } | Action::Event(_) => None,
    };
    guard.filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use olm_effect::Resource;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::deleted_since("5", Some("6"), true)]
    #[case::left_the_watch_with_this_version("6", Some("6"), false)]
    #[case::made_again("7", Some("6"), false)]
    #[case::never_seen_deleted("5", None, false)]
    fn what_was_deleted_since_is_not_written_to(
        #[case] guard: &str,
        #[case] deleted: Option<&str>,
        #[case] expected: bool,
    ) {
        let patch = json!({"metadata": {"resourceVersion": guard}});
        let target = Target::cluster(Resource::new("", "v1", "Node", "nodes"), "a");
        let effect = olm_effect::Effect::merge(target.clone(), patch, None);
        assert_eq!(gone(&target, &effect.action, deleted).is_some(), expected);
    }

    #[tokio::test]
    async fn writes_to_one_object_wait_for_each_other_and_none_is_remembered() {
        let object_locks = ObjectLocks::default();
        let target = |name| Target::cluster(Resource::new("", "v1", "Node", "nodes"), name);
        let first = object_locks.enter(&target("a")).await;
        let other = object_locks.enter(&target("b")).await;
        let a = target("a");
        let given_up = futures::poll!(Box::pin(object_locks.enter(&a)));
        assert!(given_up.is_pending(), "the object is being written to");
        let mut waits = Box::pin(object_locks.enter(&a));
        assert!(futures::poll!(&mut waits).is_pending());
        drop(first);
        drop(waits.await);
        drop(other);
        assert!(object_locks.taken.lock().is_empty());
    }
}
