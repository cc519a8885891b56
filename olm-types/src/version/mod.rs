//! Versions and version ranges as OLM's catalogs write them.
//!
//! The language is that of the Go library blang/semver v4, not that of Cargo or npm: its surprises
//! decide what catalogs of the real world mean, so they are kept (dialect notes in [`range`]).
//! [`Version`] orders by precedence: build metadata never counts.

mod number;
pub mod range;
#[cfg(test)]
mod tests;
mod version_range;
mod wildcard;

pub use number::{Version, VersionError};
pub use range::{Range, RangeError};
pub use version_range::{VersionRange, VersionRangeError};

/// The strict form of a text such as ` v1.02 `. What is still wrong is left for the strict reader.
fn normalise(text: &str) -> Result<String, VersionError> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeros).collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|part| part.contains(['+', '-'])) {
            return Err(VersionError::ShortWithSuffix);
        }
        parts.resize(3, "0".to_owned());
    }
    Ok(parts.join("."))
}

/// `007` is `7`, `000` is `0`, and `0-rc.1` keeps its `0`.
fn without_leading_zeros(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let rest = part.trim_start_matches('0');
    match rest.starts_with(|c: char| c.is_ascii_digit()) {
        true => rest.to_owned(),
        false => format!("0{rest}"),
    }
}
