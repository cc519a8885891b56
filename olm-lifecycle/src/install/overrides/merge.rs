//! How lists of a pod are merged with those of a Subscription.

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
    for variable in wanted {
        match present.iter_mut().rfind(|found| name(found) == name(variable)) {
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
    let before = present.len();
    for item in wanted {
        match present.iter_mut().take(before).find(|found| name(found) == name(item)) {
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
    let before: Vec<String> = present.iter().map(meaning).collect();
    present.extend(wanted.iter().filter(|item| !before.contains(&meaning(item))).cloned());
    Ok(())
}

fn name(item: &Value) -> Option<&str> {
    item.get("name").and_then(Value::as_str)
}
