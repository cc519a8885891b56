//! What a definition says about its conversion, where OLM has a say in it.
//!
//! A bundle cannot know who will convert: it holds a placeholder for the certificate, and the CSV
//! that is installed later puts Service and certificate there (spec olm-operator 3.8, item 4).

use k8s_openapi::ByteString;
use serde_json::Value;

use super::text;
use crate::certificates::Certificate;

const CLIENT: &str = "/spec/conversion/webhook/clientConfig";

/// Takes a certificate that is none out of a manifest. The API server does not establish a
/// definition with one, and refuses to change an existing one into it: v0 waits for ever.
pub(crate) fn without_placeholder(mut manifest: Value) -> Value {
    if let Some(client) = manifest.pointer_mut(CLIENT).and_then(Value::as_object_mut)
        && client.get("caBundle").is_some_and(|bundle| certificate(bundle).is_none())
    {
        client.remove("caBundle");
    }
    manifest
}

/// While the new version of an operator is not installed yet, the old one goes on converting. In
/// v0 no component does: objects are served in no version but the one they are stored in.
pub(super) fn keep(object: &mut Value, live: &Value) {
    let calls = |definition: &Value| text(definition, "/spec/conversion/strategy") == "Webhook";
    let Some(client) = live.pointer(CLIENT) else { return };
    let is_olms = client.get("caBundle").and_then(certificate).is_some_and(|one| one.is_olms());
    if calls(live)
        && calls(object)
        && is_olms
        && let Some(wanted) = object.pointer_mut(CLIENT)
    {
        wanted.clone_from(client);
    }
}

fn certificate(bundle: &Value) -> Option<Certificate> {
    let ByteString(pem) = serde_json::from_value(bundle.clone()).ok()?;
    Certificate::read(&pem).ok()
}
