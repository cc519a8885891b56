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

/// Media type of [`everything`].
pub(super) const EVERYTHING: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Whether an Accept header asks for [`everything`].
pub(super) fn wants_everything(accept: &str) -> bool {
    let mut parts = accept.split(',');
    parts.any(|part| {
        ["g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"]
            .iter()
            .all(|wanted| part.split(';').any(|piece| piece.trim() == *wanted))
    })
}

/// Group, version and resources in one answer, which newer clients prefer.
pub(super) fn everything(kind: &Kind) -> Value {
    let of = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let part = |name: &&str| json!({"subresource": name, "responseKind": of, "verbs": ["get"]});
    let resource = json!({
        "resource": kind.plural, "responseKind": of, "scope": "Namespaced",
        "singularResource": kind.singular, "verbs": ["get", "list"],
        "subresources": kind.subresources.keys().map(part).collect::<Vec<_>>(),
    });
    let version = json!({"version": kind.version, "freshness": "Current", "resources": [resource]});
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": [{"metadata": {"name": kind.group}, "versions": [version]}],
    })
}

fn bare_group(kind: &Kind) -> Value {
    let version = json!({"groupVersion": kind.api_version(), "version": kind.version});
    json!({"name": kind.group, "versions": [version], "preferredVersion": version})
}

#[cfg(test)]
mod tests {
    use super::super::query::tests::kind;
    use super::*;

    #[test]
    fn both_forms_name_the_same_resources() {
        let kind = kind();
        let listed = &resources(&kind)["resources"];
        let names: Vec<_> =
            listed.as_array().into_iter().flatten().map(|one| &one["name"]).collect();
        assert_eq!(names, ["things", "things/icon"]);
        let resource = &everything(&kind)["items"][0]["versions"][0]["resources"][0];
        assert_eq!(resource["resource"], "things");
        assert_eq!(resource["subresources"][0]["subresource"], "icon");
        assert_eq!(group(&kind)["preferredVersion"]["groupVersion"], "g.io/v1");
    }

    #[test]
    fn everything_is_given_to_who_asks_for_it() {
        assert!(wants_everything(EVERYTHING));
        assert!(wants_everything(&format!("{EVERYTHING},application/json")));
        assert!(!wants_everything(&EVERYTHING.replace("v=v2", "v=v2beta1")));
        assert!(!wants_everything("application/json"));
    }
}
