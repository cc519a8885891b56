//! What is drawn at random or depends on what is: addresses, certificates, keys, ends of names.

use std::collections::BTreeMap;

use serde_json::Value;

/// Fields with a certificate authority or the hash of one.
const AUTHORITIES: [&str; 2] = ["caBundle", "olmcahash"];

/// Fields of Secrets with a certificate or a key.
const SECRETS: [&str; 3] = ["olmCAKey", "tls.crt", "tls.key"];

/// The annotation of pods that show a certificate: a hash of it, on which others depend.
const CERTIFICATE_OF_PODS: &str = "/spec/template/metadata/annotations/olmcahash";

/// Puts placeholders in place of addresses, certificates and keys, wherever they are.
pub(super) fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| field(name, value)),
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn field(name: &str, value: &mut Value) {
    match name {
        "nodePort" => *value = "<node port>".into(),
        "clusterIP" => address(value),
        "clusterIPs" => value.as_array_mut().into_iter().flatten().for_each(address),
        _ if AUTHORITIES.contains(&name) => *value = "<ca>".into(),
        _ if SECRETS.contains(&name) => *value = "<secret>".into(),
        _ => mask(value),
    }
}

/// A headless Service has `None`, which is no address.
fn address(value: &mut Value) {
    if value.as_str().is_some_and(|address| address != "None") {
        *value = "<cluster ip>".into();
    }
}

/// What the API server draws in the names of webhook configurations, and hashes that depend on a
/// certificate, each with what is shown instead.
pub(super) fn generated(objects: &[Value]) -> BTreeMap<String, String> {
    let mut generated = BTreeMap::new();
    for object in objects {
        let start = text(object, "/metadata/generateName");
        if text(object, "/kind").ends_with("WebhookConfiguration") && !start.is_empty() {
            let name = text(object, "/metadata/name").to_owned();
            generated.insert(name, format!("{start}<generated>"));
        }
        if object.pointer(CERTIFICATE_OF_PODS).is_some() {
            let labels = ["olm.deployment-spec-hash", "pod-template-hash"];
            let hashes = labels.map(|label| text(object, &format!("/metadata/labels/{label}")));
            let hashes = hashes.into_iter().filter(|hash| !hash.is_empty());
            generated.extend(hashes.map(|hash| (hash.to_owned(), "<certificate>".to_owned())));
        }
    }
    generated
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
