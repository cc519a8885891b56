//! The formulas behind names and labels (spec catalog-operator 0.2, olm-operator 3.2, 3.4, 4.6).
//!
//! Clusters that OLM v0 manages carry these values; equal values mean that taking such a cluster
//! over causes no rollout and no second set of roles. Objects are hashed as the text that Go's
//! JSON encoder makes of them, which [`go_json`] reproduces.

mod digest;
pub mod go_json;
mod quantity;

pub use digest::{alongside_key, api_hash, base62_sha224, deep_hash, generate_name, unpack_name};
pub use quantity::{QuantityError, canonical_quantity};

#[cfg(test)]
mod tests;
