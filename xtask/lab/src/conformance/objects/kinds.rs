//! Which objects are compared.

use std::collections::BTreeSet;

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde_json::Value;

const OLM: &str = "operators.coreos.com";
const CRDS: &str = "apiextensions.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const WEBHOOKS: &str = "admissionregistration.k8s.io";

/// Group, version, kind and plural of everything that an installation may touch. Pods,
/// ReplicaSets, Endpoints, Events and Leases are of Kubernetes' making and not recorded.
const KINDS: &[(&str, &str, &str, &str)] = &[
    (OLM, "v1alpha1", "CatalogSource", "catalogsources"),
    (OLM, "v1alpha1", "ClusterServiceVersion", "clusterserviceversions"),
    (OLM, "v1alpha1", "InstallPlan", "installplans"),
    (OLM, "v1alpha1", "Subscription", "subscriptions"),
    (OLM, "v1", "OLMConfig", "olmconfigs"),
    (OLM, "v1", "Operator", "operators"),
    (OLM, "v2", "OperatorCondition", "operatorconditions"),
    (OLM, "v1", "OperatorGroup", "operatorgroups"),
    ("", "v1", "ConfigMap", "configmaps"),
    ("", "v1", "Namespace", "namespaces"),
    ("", "v1", "Secret", "secrets"),
    ("", "v1", "Service", "services"),
    ("", "v1", "ServiceAccount", "serviceaccounts"),
    (CRDS, "v1", "CustomResourceDefinition", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "v1", "APIService", "apiservices"),
    ("apps", "v1", "Deployment", "deployments"),
    ("batch", "v1", "Job", "jobs"),
    ("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"),
    (RBAC, "v1", "ClusterRole", "clusterroles"),
    (RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings"),
    (RBAC, "v1", "Role", "roles"),
    (RBAC, "v1", "RoleBinding", "rolebindings"),
    (WEBHOOKS, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
    (WEBHOOKS, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
];

/// The kinds whose objects are compared.
pub(super) fn all() -> Vec<ApiResource> {
    let resource = |(group, version, kind, plural): &(&str, &str, &str, &str)| {
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
    };
    KINDS.iter().map(resource).collect()
}

/// The names of these kinds.
pub(super) fn names() -> BTreeSet<String> {
    KINDS.iter().map(|(_, _, kind, _)| (*kind).to_owned()).collect()
}

/// Whether Kubernetes makes the object by itself: in every namespace, or for each version of a group
/// of definitions.
pub(super) fn is_of_kubernetes(object: &Value) -> bool {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match (text("/kind"), text("/metadata/name")) {
        ("ServiceAccount", "default") | ("ConfigMap", ROOT_CA) => true,
        ("APIService", _) => object.pointer(AUTOMATIC).is_some(),
        _ => false,
    }
}

/// The label of APIServices that the API server keeps.
const AUTOMATIC: &str = "/metadata/labels/kube-aggregator.kubernetes.io~1automanaged";

/// Holds the certificate authority of the API server.
const ROOT_CA: &str = "kube-root-ca.crt";
