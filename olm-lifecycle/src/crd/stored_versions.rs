//! No version in which objects may be stored disappears.

use serde_json::Value;

use super::{CrdError, text};

/// Every version that `live` lists as stored must be a version of `desired`.
pub(super) fn check(live: &Value, desired: &Value) -> Result<(), CrdError> {
    let known = |version: &str| {
        let mut versions = list(desired, "/spec/versions");
        versions.any(|entry| text(entry, "/name") == version)
    };
    let mut stored = list(live, "/status/storedVersions").filter_map(Value::as_str);
    match stored.find(|version| !known(version)) {
        Some(version) => Err(CrdError::StoredVersionRemoved {
            name: text(live, "/metadata/name").to_owned(),
            version: version.to_owned(),
        }),
        None => Ok(()),
    }
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}
