//! The versions of a definition, and those in which existing objects have to be valid.

use std::collections::BTreeSet;

use serde_json::Value;

use super::schema::Schema;
use super::{CrdError, list, text};

/// Most maps in the schemas that are compiled for one definition, of which each may take a thousand bytes. Those of
/// public operators have some thousands.
const MAPS: usize = 100_000;

/// A version in which existing objects have to be valid, with its new schema.
#[derive(Debug)]
pub(super) struct VersionCheck {
    pub(super) version: String,
    pub(super) schema: Schema,
}

/// Names of the versions that a definition serves.
pub(super) fn served(definition: &Value) -> BTreeSet<&str> {
    let served = |version: &&Value| version.get("served").and_then(Value::as_bool) == Some(true);
    let named: BTreeSet<_> = list(definition, "/spec/versions")
        .filter(served)
        .map(|entry| text(entry, "/name"))
        .collect();
    if list(definition, "/spec/versions").next().is_none() { single(definition) } else { named }
}

/// Names of all versions of a definition.
pub(super) fn all(definition: &Value) -> BTreeSet<&str> {
    let named = list(definition, "/spec/versions").map(|entry| text(entry, "/name"));
    named.chain(single(definition)).collect()
}

/// The version in which objects are stored when they are written.
pub(super) fn storage(definition: &Value) -> &str {
    let stores = |version: &&Value| version.get("storage").and_then(Value::as_bool) == Some(true);
    list(definition, "/spec/versions")
        .find(stores)
        .map(|entry| text(entry, "/name"))
        .unwrap_or_default()
}

/// A version in which all objects can be listed and written: the one in which they are stored, if it
/// is served.
pub(super) fn readable(definition: &Value) -> &str {
    let served = served(definition);
    let storage = storage(definition);
    if served.contains(storage) { storage } else { served.first().copied().unwrap_or_default() }
}

/// What has to be checked before `desired` takes the place of `live`: every version that both
/// serve.
///
/// # Errors
/// Their schemas are too large together.
pub(super) fn to_check(live: &Value, desired: &Value) -> Result<Vec<VersionCheck>, CrdError> {
    let before = served(live);
    let common = served(desired).into_iter().filter(|version| before.contains(version));
    let shared = desired.pointer("/spec/validation/openAPIV3Schema");
    let mut left = MAPS;
    let check = |version: &str| {
        let schema = shared.or_else(|| own_schema(desired, version)).unwrap_or(&Value::Null);
        let (name, version) = (text(live, "/metadata/name").to_owned(), version.to_owned());
        left = match left.checked_sub(maps(schema)) {
            Some(left) => left,
            None => return Err(CrdError::TooCostly { name, version }),
        };
        Ok(VersionCheck { version, schema: Schema::compile(schema) })
    };
    // One schema for all versions (v1beta1) is checked once.
    let count = if shared.is_some() { 1 } else { usize::MAX };
    common.take(count).map(check).collect()
}

/// How many maps there are in a value, itself included.
fn maps(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(maps).sum::<usize>(),
        Value::Array(items) => items.iter().map(maps).sum(),
        _ => 0,
    }
}

fn own_schema<'a>(definition: &'a Value, version: &str) -> Option<&'a Value> {
    let entry = list(definition, "/spec/versions").find(|entry| text(entry, "/name") == version)?;
    entry.pointer("/schema/openAPIV3Schema")
}

/// `spec.version` of v1beta1.
fn single(definition: &Value) -> BTreeSet<&str> {
    Some(text(definition, "/spec/version"))
        .filter(|version| !version.is_empty())
        .into_iter()
        .collect()
}
