//! Objects in the form of the recordings: the normal form of a dump, and less.
//!
//! What a bundle brings unchanged (the spec of a CSV, the schema of a CRD) and what v0 leaves to chance is
//! left out.

mod reduce;

use olm_testkit::dump::{Dump, Key, Normaliser};
use serde_json::{Map, Value};

use super::{kinds, owners};

/// Fields that the API server or the order of writes decides, wherever they are.
const VOLATILE: [&str; 4] =
    ["creationTimestamp", "managedFields", "observedGeneration", "resourceVersion"];

/// The objects of a cluster in the form of the recordings.
pub(super) fn normalise(normaliser: &mut Normaliser, mut objects: Vec<Value>) -> Dump {
    owners::mark_wrong(&mut objects, &kinds::names());
    objects.iter_mut().for_each(reduce::reduce);
    let normal = normaliser.normalise(objects).into_values().map(|mut object| {
        canonical(&mut object);
        (Key::of(&object), object)
    });
    normal.collect()
}

/// What both sides of a comparison go through: it changes nothing that was changed before.
pub(super) fn canonical(object: &mut Value) {
    drop_volatile(object);
    drop_server_fields(object);
    hide_generated_name(object);
    shorten_resolution_texts(object);
}

fn drop_volatile(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            fields.values_mut().for_each(drop_volatile);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_volatile),
        _ => {}
    }
}

/// Empty maps go as well: `kubectl apply` leaves one behind when its annotation is taken out.
fn drop_server_fields(object: &mut Value) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    // That of a spec is OLM's own: it numbers the InstallPlans of a namespace.
    metadata.remove("generation");
    metadata.remove("uid");
    metadata.remove("selfLink");
    let empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    metadata
        .retain(|name, value| !(matches!(name.as_str(), "annotations" | "labels") && empty(value)));
}

/// InstallPlans have a number instead.
fn hide_generated_name(object: &mut Value) {
    let is_plan = text(object, "/kind") == "InstallPlan";
    let prefix = text(object, "/metadata/generateName").to_owned();
    if let Some(name) = object.pointer_mut("/metadata/name").filter(|_| !is_plan)
        && !prefix.is_empty()
    {
        *name = Value::String(format!("{prefix}<generated>"));
    }
}

/// The order of the constraints in the text of a failed resolution is one of chance in v0; the
/// part before the first colon is not.
fn shorten_resolution_texts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let failed = fields.get("type").and_then(Value::as_str) == Some("ResolutionFailed");
            if let Some(Value::String(message)) = fields.get_mut("message").filter(|_| failed)
                && let Some(colon) = message.find(':')
            {
                message.truncate(colon);
            }
            fields.values_mut().for_each(shorten_resolution_texts);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten_resolution_texts),
        _ => {}
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
