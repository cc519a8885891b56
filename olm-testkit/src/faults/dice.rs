//! Numbers that look random and depend on nothing but a seed and what they are for.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Throws a number for one purpose.
pub(super) fn throw(seed: u64, purpose: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, purpose).hash(&mut hasher);
    hasher.finish()
}

/// A seed that no earlier run had.
pub(super) fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    throw(u64::from(std::process::id()), now.unwrap_or_default())
}
