//! The formulas behind names and labels (spec catalog-operator 0.2, olm-operator 3.2, 3.4, 4.6).
//!
//! Clusters that OLM v0 manages carry these values; equal values mean that taking such a cluster
//! over causes no rollout and no second set of roles. Objects are hashed as the text that Go's
//! JSON encoder makes of them, which [`go_json`] reproduces.

pub mod go_json;
mod quantity;
#[cfg(test)]
mod tests;

use sha2::{Digest, Sha224, Sha256};

pub use quantity::{QuantityError, canonical_quantity};

/// Longest name that [`generate_name`] aims at: the limit of a DNS label.
const NAME_LIMIT: usize = 63;

const BASE62: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// SHA-224 as a big-endian number in base 62 (`0-9a-zA-Z`), without padding: at most 38 characters.
///
/// Over Go JSON it is the value of the label `olm.permissions.hash`.
pub fn base62_sha224(text: &[u8]) -> String {
    base62(&Sha224::digest(text))
}

/// Hash of an object: [`base62_sha224`] of its Go JSON and a line feed, which is added here.
///
/// Value of the labels `olm.pod-spec-hash`, `olm.service-spec-hash`, `olm.deployment-spec-hash`
/// and `olm.webhook-description-hash`, and part of generated RBAC names.
pub fn deep_hash(go_json: &str) -> String {
    base62_sha224(format!("{go_json}\n").as_bytes())
}

/// SHA-256 in hexadecimal digits: 64 of them, in lower case.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits: two for each, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `base-hash`, the base cut so that the name has at most 63 bytes.
///
/// As in OLM, the dash is forgotten when the parts have exactly 63 bytes: that name has 64. A base
/// with wide characters is cut before the character that does not fit.
pub fn generate_name(base: &str, hash: &str) -> String {
    if base.len() + hash.len() <= NAME_LIMIT {
        return format!("{base}-{hash}");
    }
    let mut limit = NAME_LIMIT.saturating_sub(hash.len() + 1);
    while !base.is_char_boundary(limit) {
        limit -= 1;
    }
    format!("{}-{hash}", base.get(..limit).unwrap_or_default())
}

/// Name of the objects that unpack a bundle image: hex SHA-256 of the reference, last digit dropped.
pub fn unpack_name(image: &str) -> String {
    let mut name = sha256_hex(image);
    name.truncate(NAME_LIMIT);
    name
}

/// Last part of the `installed-alongside` annotation key of a CSV: hex FNV-1a of `namespace/name`.
pub fn alongside_key(namespace: &str, name: &str) -> String {
    format!("{:x}", fnv1a(format!("{namespace}/{name}").as_bytes()))
}

/// Hash of an API in label keys: hex FNV-1a of `Kind.version.group`, not padded.
pub fn api_hash(api_key: &str) -> String {
    format!("{:x}", fnv1a(api_key.as_bytes()))
}

/// Divides the number by 62 until nothing is left; remainders are the digits from the right.
fn base62(number: &[u8]) -> String {
    let mut number = number.to_vec();
    let mut digits: Vec<u8> = Vec::new();
    while number.iter().any(|byte| *byte != 0) {
        let mut remainder = 0;
        for byte in &mut number {
            let part = remainder * 256 + usize::from(*byte);
            *byte = u8::try_from(part / BASE62.len()).unwrap_or(u8::MAX);
            remainder = part % BASE62.len();
        }
        digits.extend(BASE62.get(remainder));
    }
    digits.iter().rev().map(|digit| char::from(*digit)).collect()
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
