//! What is served, as clients discover it.

use serde_json::{Value, json};

use super::resource::Kind;

/// The only group.
pub(super) fn groups(kind: &Kind) -> Value {
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [bare_group(kind)]})
}

/// The group with its only version.
pub(super) fn group(kind: &Kind) -> Value {
    let mut group = bare_group(kind);
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    group
}

/// The resource and its subresources.
pub(super) fn resources(kind: &Kind) -> Value {
    let whole = json!({
        "name": kind.plural, "singularName": kind.singular, "namespaced": true,
        "kind": kind.kind, "verbs": ["get", "list"],
    });
    let parts = kind.subresources.keys().map(|part| {
        json!({
            "name": format!("{}/{part}", kind.plural), "singularName": "", "namespaced": true,
            "kind": kind.kind, "verbs": ["get"],
        })
    });
    json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": kind.api_version(),
        "resources": std::iter::once(whole).chain(parts).collect::<Vec<_>>(),
    })
}

fn bare_group(kind: &Kind) -> Value {
    let version = json!({"groupVersion": kind.api_version(), "version": kind.version});
    json!({"name": kind.group, "versions": [version], "preferredVersion": version})
}
