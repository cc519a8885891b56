//! Annotations that record which CSVs a definition was installed alongside.

use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;
use serde_json::{Map, Value};

/// `(namespace, name)` of the CSVs that a definition names. Values that are not of the form
/// `<namespace>/<name>` name none.
pub(crate) fn recorded(object: &Value) -> impl Iterator<Item = (&str, &str)> {
    annotations(object).filter_map(|(_, value)| named(value))
}

/// Puts into `object` those annotations of `live` that name a CSV which exists, and takes out of
/// `object` those that do not, but for the one of `current`. The value of such an annotation is
/// `<namespace>/<name>`.
pub(super) fn merge(
    object: &mut Value,
    live: &Value,
    current: (&str, &str),
    exists: impl Fn(&str, &str) -> bool,
) {
    let stale =
        |value: &Value| !named(value).is_some_and(|csv| csv == current || exists(csv.0, csv.1));
    let found = annotations(live).filter(|(_, value)| !stale(value));
    let found: Map<String, Value> =
        found.map(|(key, value)| (key.clone(), value.clone())).collect();
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let wanted = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    let Some(wanted) = wanted.as_object_mut() else { return };
    wanted.retain(|key, value| !key.starts_with(INSTALLED_ALONGSIDE_PREFIX) || !stale(value));
    for (key, value) in found {
        wanted.entry(key).or_insert(value);
    }
}

fn named(value: &Value) -> Option<(&str, &str)> {
    let csv = value.as_str()?.split_once('/')?;
    (is_name(csv.0) && is_name(csv.1)).then_some(csv)
}

/// What names of objects are made of; the record may come from any user.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|each| each.is_ascii_alphanumeric() || matches!(each, '-' | '.'))
}

fn annotations(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let all =
        object.pointer("/metadata/annotations").and_then(Value::as_object).into_iter().flatten();
    all.filter(|(key, _)| key.starts_with(INSTALLED_ALONGSIDE_PREFIX))
}
