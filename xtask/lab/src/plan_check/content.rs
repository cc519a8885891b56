//! Objects that were written and have the contents they had: a plan shows none of them. Often only their owners are
//! others; a role that Kubernetes fills is emptied and filled again; what is applied was applied before.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::gvk::GroupVersionKind;
use olm_plan::preview::{Change, Key};
use olm_testkit::plan_check::written_again;
use serde_json::Value;

/// Kinds of which OLM writes objects that are there already: those that an upgrade makes the next CSV the owner of, and
/// those of servers and of bundles that belong to the cluster or to `kube-system`.
const KINDS: [[&str; 4]; 14] = [
    ["", "v1", "ConfigMap", "configmaps"],
    ["", "v1", "Secret", "secrets"],
    ["", "v1", "Service", "services"],
    ["", "v1", "ServiceAccount", "serviceaccounts"],
    [HOOKS, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"],
    [HOOKS, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"],
    ["apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"],
    ["apiregistration.k8s.io", "v1", "APIService", "apiservices"],
    ["networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"],
    ["policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"],
    [RBAC, "v1", "ClusterRole", "clusterroles"],
    [RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings"],
    [RBAC, "v1", "Role", "roles"],
    [RBAC, "v1", "RoleBinding", "rolebindings"],
];

const HOOKS: &str = "admissionregistration.k8s.io";

const RBAC: &str = "rbac.authorization.k8s.io";

/// Objects as the audit log names them: `RESOURCE NAMESPACE/NAME`, or `RESOURCE NAME`.
pub(super) type Contents = BTreeMap<String, Value>;

/// What a cluster holds.
pub(super) async fn there(client: &Client) -> Result<Contents> {
    let mut there = Contents::new();
    for [group, version, kind, plural] in KINDS {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        for object in api.list(&ListParams::default()).await? {
            there.insert(named(plural, &object.metadata), serde_json::to_value(object)?);
        }
    }
    Ok(there)
}

fn named(plural: &str, object: &ObjectMeta) -> String {
    let name = object.name.as_deref().unwrap_or_default();
    match &object.namespace {
        Some(namespace) => format!("{plural} {namespace}/{name}"),
        None => format!("{plural} {name}"),
    }
}

/// The objects that were there and are not.
pub(super) fn gone(before: &Contents, now: &Contents) -> BTreeSet<String> {
    before.keys().filter(|&object| !now.contains_key(object)).cloned().collect()
}

/// Whether a line is about an object that was written, and is what it was.
pub(super) fn is_same(line: &str, before: &Contents, after: &Contents) -> bool {
    let both =
        written_again(line).and_then(|object| Some((before.get(object)?, after.get(object)?)));
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

    /// What olm-operator makes for a server, and a role of a bundle.
    #[rstest]
    #[case::secret_of_a_server("roles", Some("ns"), "a-service-cert", "roles ns/a-service-cert")]
    #[case::callers_of_a_server(
        "rolebindings",
        Some("kube-system"),
        "a-service-auth-reader",
        "rolebindings kube-system/a-service-auth-reader"
    )]
    #[case::of_the_cluster("clusterroles", None, "filled", "clusterroles filled")]
    fn objects_are_named_as_in_the_audit_log(
        #[case] plural: &str,
        #[case] namespace: Option<&str>,
        #[case] name: &str,
        #[case] expected: &str,
    ) {
        assert!(KINDS.iter().any(|[_, _, _, known]| *known == plural));
        let (name, namespace) = (Some(name.to_owned()), namespace.map(str::to_owned));
        let object = ObjectMeta { name, namespace, ..ObjectMeta::default() };
        assert_eq!(named(plural, &object), expected);
    }
}
