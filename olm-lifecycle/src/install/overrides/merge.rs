//! How lists of a pod are merged with those of a Subscription.

use std::collections::{HashMap, HashSet};

use olm_types::hash::go_json;
use serde_json::{Map, Value};

use crate::install::shape::{ShapeError, list_in};

/// Merges variables by name: a wanted one takes the place of the last present one, which is what
/// pods see of a name that stands twice; the others follow in their order.
pub(in crate::install) fn merge_variables(
    container: &mut Map<String, Value>,
    wanted: &[Value],
    path: &str,
) -> Result<(), ShapeError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let present = list_in(container, "env", path)?;
    // Both lists may be as long as an object is large.
    let mut places: HashMap<Option<String>, usize> = present.iter().map(key).zip(0..).collect();
    for variable in wanted {
        let next = present.len();
        let place = *places.entry(key(variable)).or_insert(next);
        match present.get_mut(place) {
            Some(found) => *found = variable.clone(),
            None => present.push(variable.clone()),
        }
    }
    Ok(())
}

/// Puts each wanted item in the place of the first one of that name that was there before, or at
/// the end.
pub(super) fn replace_or_append(
    parent: &mut Map<String, Value>,
    field: &str,
    wanted: &[Value],
    path: &str,
) -> Result<(), ShapeError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let present = list_in(parent, field, path)?;
    let mut places: HashMap<Option<String>, usize> = HashMap::new();
    for (place, found) in present.iter().enumerate() {
        places.entry(key(found)).or_insert(place);
    }
    for item in wanted {
        match places.get(&key(item)).and_then(|place| present.get_mut(*place)) {
            Some(found) => *found = item.clone(),
            None => present.push(item.clone()),
        }
    }
    Ok(())
}

/// Appends each wanted item that means something else than all that were there before; `shape` is
/// their Go type, by which absent and empty fields are the same.
pub(super) fn append_missing(
    parent: &mut Map<String, Value>,
    field: &str,
    wanted: &[Value],
    shape: &str,
    path: &str,
) -> Result<(), ShapeError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let present = list_in(parent, field, path)?;
    let meaning = |item: &Value| go_json::encode(shape, item).unwrap_or_else(|_| item.to_string());
    let before: HashSet<String> = present.iter().map(meaning).collect();
    present.extend(wanted.iter().filter(|item| !before.contains(&meaning(item))).cloned());
    Ok(())
}

/// The name of an item.
fn key(item: &Value) -> Option<String> {
    item.get("name").and_then(Value::as_str).map(str::to_owned)
}
