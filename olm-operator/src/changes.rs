//! Which CSVs a failed install may be tried again for at once.

use std::sync::Arc;

use dashmap::DashMap;
use olm_kit::ObjectKey;

/// Remembers per CSV whether something that its install depends on changed since its last pass.
///
/// A CSV that was never looked at counts as changed: whatever happened while the process was not
/// running was missed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    changed: Arc<DashMap<ObjectKey, bool>>,
}

impl Changes {
    /// Something changed for this CSV.
    pub fn mark(&self, key: ObjectKey) {
        self.changed.insert(key, true);
    }

    /// Whether something changed since the last call for this CSV.
    pub fn take(&self, key: &ObjectKey) -> bool {
        self.changed.insert(key.clone(), false).unwrap_or(true)
    }

    /// The CSV is gone.
    pub fn forget(&self, key: &ObjectKey) {
        self.changed.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_taken_once() {
        let changes = Changes::default();
        let key = ObjectKey::namespaced("ns", "csv");
        assert!(changes.take(&key), "never looked at");
        assert!(!changes.take(&key));
        changes.mark(key.clone());
        assert!(changes.take(&key));
        changes.forget(&key);
        assert!(changes.take(&key), "a new object of the same name");
    }
}
