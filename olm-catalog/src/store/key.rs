//! By what content is known: the digest of its image, and the folder that was asked for.

use std::fmt;

use olm_types::hash::sha256_hex;

/// The name of a content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentKey(String);

impl ContentKey {
    /// The key of the catalog in the image with this digest, in the folder that its label names or in
    /// another one.
    pub fn of(digest: &str, folder: Option<&str>) -> Self {
        let text = format!("{digest}\n{}", folder.unwrap_or_default());
        Self(sha256_hex(text))
    }

    /// From the name of a folder.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Self(text.to_owned()))
    }

    /// As the name of a folder.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
