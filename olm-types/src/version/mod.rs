//! Versions and version ranges as OLM's catalogs write them.
//!
//! The language is that of the Go library blang/semver v4, not that of Cargo or npm: its surprises
//! decide what catalogs of the real world mean, so they are kept (dialect notes in [`range`]).
//! [`Version`] orders by precedence: build metadata never counts.

mod number;
pub mod range;
mod tolerant;
mod wildcard;

pub use number::{Version, VersionError};
pub use range::{Range, RangeError};

#[cfg(test)]
mod tests;
