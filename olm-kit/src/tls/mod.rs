//! TLS with certificates that can be exchanged while it serves.
//!
//! ```text
//! identity what a server shows of itself, exchanged from the next connection on
//! files    certificates in files, followed while they change
//! cluster  what the cluster says of versions and cipher suites, on OpenShift
//! profile  which versions and cipher suites are accepted
//! ```

mod cluster;
mod files;
mod identity;
mod profile;

use std::sync::Arc;

use arc_swap::ArcSwap;

pub use cluster::{TlsFlags, follow};
pub(crate) use files::Followed;
pub use files::{FilesError, TlsFiles};
pub use identity::{ListenError, ServingIdentity};
pub use profile::{CipherSuite, ProfileError, TlsProfile, TlsVersion};

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
    fn get(&self) -> Arc<TlsProfile> {
        self.0.load_full()
    }
}

impl From<TlsProfile> for SharedProfile {
    fn from(profile: TlsProfile) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(profile)))
    }
}
