//! Digests by SHA-256, by which images name their parts.

use sha2::{Digest, Sha256};

use super::ImageError;

/// Refuses bytes that are not what their digest says. `what` they are is for the message.
pub(super) fn verify(what: &str, expected: &str, bytes: &[u8]) -> Result<(), ImageError> {
    let found = digest_of(bytes);
    if found == expected {
        return Ok(());
    }
    Err(ImageError::Digest { what: what.to_owned(), expected: expected.to_owned(), found })
}

/// `sha256:` and 64 hexadecimal digits.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// A digest becomes part of an address: it must not be anything else.
pub(super) fn is_sha256(text: &str) -> bool {
    hex(text).is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The digits of a digest.
pub(super) fn hex(digest: &str) -> Option<&str> {
    digest.strip_prefix("sha256:")
}
