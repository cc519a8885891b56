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
mod shared;

pub use cluster::{TlsFlags, follow};
pub(crate) use files::Followed;
pub use files::{FilesError, TlsFiles};
pub use identity::{ListenError, ServingIdentity};
pub use profile::{CipherSuite, ProfileError, TlsProfile, TlsVersion};
pub use shared::SharedProfile;
