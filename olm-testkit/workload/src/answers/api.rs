//! An aggregated API with one kind, of which there are no objects.

use serde_json::{Value, json};

use super::Response;
use crate::arguments::Api;

/// The answer to a request below `/apis`; nothing for paths of others.
pub(super) fn read(path: &str, api: &Api) -> Option<Response> {
    let (group, version) = api.group_version.split_once('/')?;
    let rest = path.strip_prefix("/apis")?;
    if rest.is_empty() || rest == "/" {
        return Some((
            200,
            json!({
                "kind": "APIGroupList", "apiVersion": "v1", "groups": [group_of(api, group, version)],
            }),
        ));
    }
    if rest == format!("/{group}") {
        let mut found = group_of(api, group, version);
        found["kind"] = json!("APIGroup");
        found["apiVersion"] = json!("v1");
        return Some((200, found));
    }
    let below = rest.strip_prefix(&format!("/{}", api.group_version))?;
    match below.rsplit('/').next() {
        None | Some("") => Some((200, resources(api))),
        Some(plural) if plural == api.plural => Some((200, list(api))),
        Some(_) => None,
    }
}

fn group_of(api: &Api, group: &str, version: &str) -> Value {
    let version = json!({"groupVersion": api.group_version, "version": version});
    json!({"name": group, "versions": [version], "preferredVersion": version})
}

fn resources(api: &Api) -> Value {
    json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api.group_version,
        "resources": [{
            "name": api.plural, "singularName": "", "kind": api.kind, "namespaced": true,
            "verbs": ["get", "list"],
        }],
    })
}

fn list(api: &Api) -> Value {
    json!({
        "kind": format!("{}List", api.kind), "apiVersion": api.group_version,
        "metadata": {"resourceVersion": "1"}, "items": [],
    })
}
