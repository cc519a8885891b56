//! HMAC-SHA-256 (RFC 2104), for keys and messages of any length.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The authentication code of a message.
pub(super) fn code(key: &[u8], message: &[u8]) -> Vec<u8> {
    authenticator(key)
        .map_or_else(Vec::new, |mac| mac.chain_update(message).finalize().into_bytes().to_vec())
}

/// Whether this is the code of the message. The time it takes does not say how much is right.
pub(super) fn is_code(key: &[u8], message: &[u8], shown: &[u8]) -> bool {
    authenticator(key).is_some_and(|mac| mac.chain_update(message).verify_slice(shown).is_ok())
}

/// There is one for a key of any length.
fn authenticator(key: &[u8]) -> Option<Hmac<Sha256>> {
    Hmac::new_from_slice(key).ok()
}

#[cfg(test)]
mod tests {
    use olm_types::hash::hex;
    use rstest::rstest;

    use super::*;

    /// Cases 1, 2 and 6 of RFC 4231.
    #[rstest]
    #[case::short_key(&[0x0b; 20], b"Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")]
    #[case::text(
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )]
    #[case::long_key(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")]
    fn vectors(#[case] key: &[u8], #[case] message: &[u8], #[case] expected: &str) {
        assert_eq!(hex(&code(key, message)), expected);
    }

    #[rstest]
    #[case::right(b"key", b"text", true)]
    #[case::another_key(b"kez", b"text", false)]
    #[case::another_text(b"key", b"texu", false)]
    fn checks(#[case] key: &[u8], #[case] message: &[u8], #[case] right: bool) {
        assert_eq!(is_code(key, message, &code(b"key", b"text")), right);
        assert!(!is_code(key, message, b""));
    }
}
