//! The part of a manifest that is compared, or hashed, where two plans are.
//!
//! Properties say what the resolver knows of a bundle, and catalogs, steps and ConfigMaps list them differently.
//! Objects are the same however their text is written.

use olm_types::annotations::PROPERTIES;
use olm_types::document::{self, Budget, Meter, plain_numbers};
use serde_json::Value;

use super::as_read_by_go::as_read_by_go;

/// The comparable part of a manifest, or of a reference to a ConfigMap that holds it; none when it is no JSON.
#[must_use]
pub fn comparable(manifest: &str) -> Option<Value> {
    let read = document::json(manifest.as_bytes(), &mut Meter::in_all(Budget::OBJECT));
    let mut value = plain_numbers(read.ok()?);
    forget_annotation(&mut value, PROPERTIES);
    as_read_by_go(&mut value);
    if let Some(reference) = value.as_object_mut()
        && reference.contains_key("catalogSourceNamespace")
    {
        reference.remove("properties");
    }
    Some(value)
}

/// Removes an annotation, and the field when it was the only one.
pub(super) fn forget_annotation(object: &mut Value, annotation: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
    let Some(annotations) = annotations else { return };
    if annotations.remove(annotation).is_some() && annotations.is_empty() {
        metadata.remove("annotations");
    }
}
