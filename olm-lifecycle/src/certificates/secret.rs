//! What the Secret of a server holds.
//!
//! Three sets may lie in it: the active one, which pods mount; `next`, which clients learn to trust
//! before pods get it; and `previous`, the authority that clients trust until no pod shows its
//! certificates any more. Pods see the active set only.

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;

use super::bundle::join;

/// Key of the certificate.
pub const CERTIFICATE: &str = "tls.crt";
/// Key of the private key.
pub(crate) const PRIVATE_KEY: &str = "tls.key";
/// Key of the certificate of the authority; the name is v0's and says "key" although it is none.
pub const AUTHORITY: &str = "olmCAKey";
/// Key of the certificate that is about to become active.
pub(crate) const NEXT_CERTIFICATE: &str = "next.tls.crt";
/// Key of the private key that is about to become active.
pub(crate) const NEXT_PRIVATE_KEY: &str = "next.tls.key";
/// Key of the authority that is about to become active.
pub(crate) const NEXT_AUTHORITY: &str = "next.olmCAKey";
/// Key of the authorities that were active before.
pub(crate) const PREVIOUS_AUTHORITY: &str = "previous.olmCAKey";

/// A certificate with what belongs to it, as PEM; absent parts are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Material<'a> {
    /// The certificate.
    pub certificate: &'a [u8],
    /// The private key.
    pub key: &'a [u8],
    /// The certificate of the authority that signed it.
    pub authority: &'a [u8],
}

/// A Secret, read as one of ours.
#[derive(Clone, Copy, Debug)]
pub struct ServingSecret<'a> {
    secret: &'a Secret,
}

impl<'a> ServingSecret<'a> {
    /// Looks into a Secret.
    pub fn new(secret: &'a Secret) -> Self {
        Self { secret }
    }

    /// What pods mount.
    pub fn active(&self) -> Material<'a> {
        Material {
            certificate: self.get(CERTIFICATE),
            key: self.get(PRIVATE_KEY),
            authority: self.get(AUTHORITY),
        }
    }

    /// What pods will mount after the rotation that is under way.
    pub fn next(&self) -> Option<Material<'a>> {
        let next = Material {
            certificate: self.get(NEXT_CERTIFICATE),
            key: self.get(NEXT_PRIVATE_KEY),
            authority: self.get(NEXT_AUTHORITY),
        };
        let is_whole = [next.certificate, next.key, next.authority];
        is_whole.iter().all(|part| !part.is_empty()).then_some(next)
    }

    /// The authorities of certificates that pods may still show.
    pub fn previous(&self) -> &'a [u8] {
        self.get(PREVIOUS_AUTHORITY)
    }

    /// The authorities that clients are to trust.
    pub fn trusted(&self) -> Vec<u8> {
        let next = self.next().map(|next| next.authority).unwrap_or_default();
        join([self.active().authority, next, self.previous()])
    }

    fn get(&self, key: &str) -> &'a [u8] {
        let value = self.secret.data.as_ref().and_then(|data| data.get(key));
        value.map(|ByteString(bytes)| bytes.as_slice()).unwrap_or_default()
    }
}

/// Whether a Secret holds certificates of a server.
pub fn is_serving(secret: &Secret) -> bool {
    secret.data.as_ref().is_some_and(|data| data.contains_key(AUTHORITY))
}
