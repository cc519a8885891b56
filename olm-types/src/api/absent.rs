//! Reading of values that may be absent in more than one way.

use serde::{Deserialize, Deserializer};

/// Reads an explicit `null` as the empty value of the type, as the Go decoder does.
pub(super) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
