//! Admission: an object with the label `deny` is refused, every other gets the label `admitted`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The label that a validating webhook refuses.
const DENY: &str = "/request/object/metadata/labels/deny";

/// The answer to a validating review.
pub(super) fn validate(review: &Value) -> Value {
    match review.pointer(DENY) {
        None => respond(review, json!({"allowed": true})),
        Some(_) => {
            let status = json!({"code": 403, "message": "the label deny says no"});
            respond(review, json!({"allowed": false, "status": status}))
        }
    }
}

/// The answer to a mutating review.
pub(super) fn mutate(review: &Value) -> Value {
    let has_labels = review.pointer("/request/object/metadata/labels").is_some();
    let patch = match has_labels {
        true => json!([{"op": "add", "path": "/metadata/labels/admitted", "value": "yes"}]),
        false => json!([{"op": "add", "path": "/metadata/labels", "value": {"admitted": "yes"}}]),
    };
    let patch = STANDARD.encode(patch.to_string());
    respond(review, json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
}

fn respond(review: &Value, mut response: Value) -> Value {
    response["uid"] = review.pointer("/request/uid").cloned().unwrap_or_default();
    json!({
        "apiVersion": review.get("apiVersion"), "kind": "AdmissionReview", "response": response,
    })
}
