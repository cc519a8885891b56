//! TLS with certificates that can be exchanged while it serves.
//!
//! ```text
//! listen   connections whose handshake is done, with the certificates of callers
//! files    certificates in files, followed while they change
//! profile  which versions and cipher suites are accepted
//! ```

mod files;
mod listen;
mod profile;

pub(crate) use files::Followed;
pub use files::{FilesError, TlsFiles};
pub use listen::{ListenError, ServingIdentity};
pub(crate) use listen::{Peer, TlsListener};
pub use profile::{CipherSuite, ProfileError, TlsProfile, TlsVersion};
