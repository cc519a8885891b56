//! Who writes to which copy: looks at all copies of an original and looks at one of them run side by
//! side, and only one of them may write to a copy.

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_kit::ObjectKey;
use olm_kit::queue::Queue;
use parking_lot::Mutex;

use super::CopyKey;

/// The copies that are being written to. Clones share them.
#[derive(Clone)]
pub struct Claims {
    /// With the looks that came meanwhile.
    taken: Arc<Mutex<BTreeMap<ObjectKey, Vec<CopyKey>>>>,
    queue: Queue<CopyKey>,
}

/// The right to write to one copy, until this is dropped.
pub struct Claim {
    copy: ObjectKey,
    of: Claims,
}

impl Claims {
    /// Claims whose missed looks go to `queue`.
    pub fn new(queue: Queue<CopyKey>) -> Self {
        Self { taken: Arc::default(), queue }
    }

    /// The right to write to the copy of `origin` in a namespace; nothing while another look has it.
    /// The copy is then looked at again when that one is done.
    pub fn enter(&self, origin: &ObjectKey, namespace: &str) -> Option<Claim> {
        let copy = ObjectKey::namespaced(namespace, &origin.name);
        let mut taken = self.taken.lock();
        if let Some(missed) = taken.get_mut(&copy) {
            let key = CopyKey::one(origin.clone(), namespace);
            if !missed.contains(&key) {
                missed.push(key);
            }
            return None;
        }
        taken.insert(copy.clone(), Vec::new());
        drop(taken);
        Some(Claim { copy, of: self.clone() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let missed = self.of.taken.lock().remove(&self.copy).unwrap_or_default();
        missed.into_iter().for_each(|key| self.of.queue.add(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_that_comes_meanwhile_follows() {
        let queue = Queue::new();
        let claims = Claims::new(queue.clone());
        let (origin, other) =
            (ObjectKey::namespaced("op", "csv"), ObjectKey::namespaced("other", "csv"));
        let claim = claims.enter(&origin, "a");
        assert!(claim.is_some());
        assert!(claims.enter(&origin, "b").is_some(), "another copy");
        assert!(claims.enter(&origin, "a").is_none());
        assert!(claims.enter(&origin, "a").is_none());
        assert!(claims.enter(&other, "a").is_none(), "a copy has one name, whatever its original");
        assert!(queue.is_empty());
        drop(claim);
        assert_eq!(queue.len(), 2);
        assert!(claims.enter(&origin, "a").is_some());
        assert!(claims.taken.lock().is_empty());
    }
}
