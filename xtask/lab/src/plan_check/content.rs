//! Objects that were written and have the contents they had: only their owners are others, which a plan does not
//! show.

use std::collections::BTreeMap;

use anyhow::Result;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::gvk::GroupVersionKind;
use olm_plan::preview::{Change, Key};
use serde_json::Value;

/// Kinds of which an upgrade makes the next CSV the owner.
const KINDS: [[&str; 4]; 7] = [
    ["", "v1", "ConfigMap", "configmaps"],
    ["", "v1", "Secret", "secrets"],
    ["", "v1", "Service", "services"],
    ["", "v1", "ServiceAccount", "serviceaccounts"],
    ["networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"],
    ["policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"],
    ["rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"],
];

/// Objects of a namespace as `RESOURCE NAMESPACE/NAME`.
pub(super) type Contents = BTreeMap<String, Value>;

/// What a namespace holds.
pub(super) async fn there(client: &Client, home: &str) -> Result<Contents> {
    let mut there = Contents::new();
    for [group, version, kind, plural] in KINDS {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), home, &resource);
        for object in api.list(&ListParams::default()).await? {
            let name = object.metadata.name.clone().unwrap_or_default();
            there.insert(format!("{plural} {home}/{name}"), serde_json::to_value(object)?);
        }
    }
    Ok(there)
}

/// Whether a line is about an object that was written, and is what it was.
pub(super) fn is_same(line: &str, before: &Contents, after: &Contents) -> bool {
    let object = line.strip_prefix("changed: ");
    let object = object.and_then(|rest| rest.strip_suffix(" was done, and not shown"));
    let both = object.and_then(|object| Some((before.get(object)?, after.get(object)?)));
    both.is_some_and(|(before, after)| {
        let (group, kind) = (String::new(), String::new());
        let key = Key { group, kind, namespace: String::new(), name: String::new() };
        Change::of(&key, Some(before), Some(after)).is_none()
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::owners("changed: services ns/a was done, and not shown", json!({"metadata": {"ownerReferences": [1]}}), true)]
    #[case::contents("changed: services ns/a was done, and not shown", json!({"spec": 1}), false)]
    #[case::not_done("changed: services ns/a was shown, and not done", json!({}), false)]
    #[case::gone("changed: services ns/b was done, and not shown", json!({}), false)]
    fn new_owners_are_no_change(#[case] line: &str, #[case] after: Value, #[case] expected: bool) {
        let of = |object: Value| Contents::from([("services ns/a".to_owned(), object)]);
        assert_eq!(is_same(line, &of(json!({"metadata": {}})), &of(after)), expected);
    }
}
