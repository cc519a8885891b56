//! TLS with certificates that can be exchanged while it serves.
//!
//! ```text
//! listen   connections whose handshake is done, with the certificates of callers
//! files    certificates in files, followed while they change
//! cluster  what the cluster says of versions and cipher suites, on OpenShift
//! profile  which versions and cipher suites are accepted
//! ```

mod cluster;
mod files;
mod listen;
mod profile;
mod shared;

pub use cluster::{TlsFlags, follow};
pub(crate) use files::Followed;
pub use files::{FilesError, TlsFiles};
pub use listen::{ListenError, ServingIdentity};
pub(crate) use listen::{Peer, TlsListener};
pub use profile::{CipherSuite, ProfileError, TlsProfile, TlsVersion};
pub use shared::SharedProfile;
