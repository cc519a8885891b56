//! Content that several catalogs of a namespace have in common is pulled by one of them; the others find it on the
//! disk. Catalogs of another namespace do not wait for it: its registry may be slow on purpose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use olm_catalog::store::ContentKey;
use tokio::sync::OwnedMutexGuard;

type Lock = tokio::sync::Mutex<()>;

/// A namespace, and a content.
type Key = (String, ContentKey);

/// Contents that are being pulled, or waited for.
#[derive(Default)]
pub(super) struct PullLocks(Mutex<BTreeMap<Key, Weak<Lock>>>);

impl PullLocks {
    /// Waits until no other catalog of the namespace pulls this content.
    pub(super) async fn enter(&self, namespace: &str, content: ContentKey) -> OwnedMutexGuard<()> {
        self.lock((namespace.to_owned(), content)).lock_owned().await
    }

    fn lock(&self, key: Key) -> Arc<Lock> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = all.get(&key).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::new(Lock::default());
        all.insert(key, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn one_content_is_pulled_by_one_at_a_time() {
        let locks = PullLocks::default();
        let key = |digest: &str| ContentKey::of(digest, None);
        let first = locks.enter("olm", key("sha256:a")).await;
        assert!(locks.enter("olm", key("sha256:a")).now_or_never().is_none());
        assert!(locks.enter("olm", key("sha256:b")).now_or_never().is_some());
        assert!(locks.enter("team", key("sha256:a")).now_or_never().is_some());
        drop(first);
        assert!(locks.enter("olm", key("sha256:a")).now_or_never().is_some());
        drop(locks.lock(("olm".to_owned(), key("sha256:c"))));
        assert_eq!(locks.0.lock().unwrap().len(), 1, "what is not waited for takes no memory");
    }
}
