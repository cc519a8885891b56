//! What TLS servers accept, where that may change while they serve.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::TlsProfile;

/// A profile that is exchanged while servers follow it. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SharedProfile(Arc<ArcSwap<TlsProfile>>);

impl SharedProfile {
    /// Lets servers accept something else from the next connection on; true when it is something else.
    pub fn set(&self, profile: TlsProfile) -> bool {
        let is_new = *self.get() != profile;
        if is_new {
            self.0.store(Arc::new(profile));
        }
        is_new
    }

    /// What is accepted now. The same until it is something else.
    pub(super) fn get(&self) -> Arc<TlsProfile> {
        self.0.load_full()
    }
}

impl From<TlsProfile> for SharedProfile {
    fn from(profile: TlsProfile) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(profile)))
    }
}
