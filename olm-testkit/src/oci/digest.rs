//! Digests as images spell them.

use sha2::{Digest as _, Sha256};

/// `sha256:` and 64 hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// The place of a blob in an image layout.
pub(super) fn blob_path(digest: &str) -> String {
    format!("blobs/{}", digest.replacen(':', "/", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_well_known_one() {
        let digest = sha256(b"");
        assert_eq!(
            digest,
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(blob_path("sha256:e3b0"), "blobs/sha256/e3b0");
    }
}
