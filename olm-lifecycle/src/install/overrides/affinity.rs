//! Where pods may run: each part of a Subscription's affinity that is set takes the place of the
//! operator's; an empty part removes it.

use serde_json::{Map, Value};

/// The parts of an affinity. There are no others.
const PARTS: [&str; 3] = ["nodeAffinity", "podAffinity", "podAntiAffinity"];

/// Changes the affinity of a pod. An affinity without parts removes all of it; a pod without one
/// gets the wanted one as it is written.
///
/// In v0 an empty `podAntiAffinity` removes the other parts, too, if the operator has an affinity.
pub(super) fn change(pod: &mut Map<String, Value>, wanted: &Map<String, Value>) {
    let present = pod.remove("affinity");
    if is_empty(wanted) {
        return;
    }
    let affinity = match present {
        Some(Value::Object(present)) if !is_empty(&present) => merged(present, wanted),
        _ => wanted.clone(),
    };
    if !is_empty(&affinity) {
        pod.insert("affinity".to_owned(), Value::Object(affinity));
    }
}

fn merged(mut affinity: Map<String, Value>, wanted: &Map<String, Value>) -> Map<String, Value> {
    for part in PARTS {
        match wanted.get(part) {
            Some(Value::Object(wanted)) if is_empty(wanted) => affinity.remove(part),
            Some(Value::Null) | None => None,
            Some(wanted) => affinity.insert(part.to_owned(), wanted.clone()),
        };
    }
    affinity
}

/// Whether nothing is set.
fn is_empty(object: &Map<String, Value>) -> bool {
    object.values().all(Value::is_null)
}
