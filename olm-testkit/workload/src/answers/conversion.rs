//! Conversion: objects get the wanted version, and an annotation that says which one they had.

use serde_json::{Value, json};

/// The answer to a conversion review.
pub(super) fn convert(review: &Value) -> Value {
    let part = |path: &str| review.pointer(path).cloned().unwrap_or_default();
    let wanted = part("/request/desiredAPIVersion");
    let objects = part("/request/objects");
    let objects = objects.as_array().into_iter().flatten();
    let converted: Vec<Value> = objects.map(|object| converted(object, &wanted)).collect();
    json!({
        "apiVersion": review.get("apiVersion"),
        "kind": "ConversionReview",
        "response": {
            "uid": part("/request/uid"),
            "convertedObjects": converted,
            "result": {"status": "Success"},
        },
    })
}

fn converted(object: &Value, wanted: &Value) -> Value {
    let mut object = object.clone();
    let from = object["apiVersion"].clone();
    object["apiVersion"] = wanted.clone();
    object["metadata"]["annotations"]["converted-from"] = from;
    object
}
