//! The small objects of a namespace in which operators are installed.

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::api::{
    CatalogSource, CatalogSourceSpec, OperatorGroup, OperatorGroupSpec, Subscription,
    SubscriptionSpec,
};

/// A namespace.
pub fn namespace(name: &str) -> Namespace {
    Namespace { metadata: metadata(name, None), ..Namespace::default() }
}

/// An OperatorGroup that targets these namespaces; all of them when the list is empty.
pub fn operator_group(namespace: &str, name: &str, targets: &[&str]) -> OperatorGroup {
    let target_namespaces = targets.iter().map(|target| (*target).to_owned()).collect();
    let spec = OperatorGroupSpec { target_namespaces, ..OperatorGroupSpec::default() };
    OperatorGroup { metadata: metadata(name, Some(namespace)), spec, status: None }
}

/// A catalog that is served at an address.
pub fn catalog_source(namespace: &str, name: &str, address: &str) -> CatalogSource {
    let spec = CatalogSourceSpec {
        source_type: "grpc".to_owned(),
        address: Some(address.to_owned()),
        display_name: Some(name.to_owned()),
        ..CatalogSourceSpec::default()
    };
    CatalogSource { metadata: metadata(name, Some(namespace)), spec, status: None }
}

/// A Subscription to a package, of the same name, from a catalog of the same namespace.
pub fn subscription(namespace: &str, package: &str, channel: &str, catalog: &str) -> Subscription {
    let spec = SubscriptionSpec {
        source: catalog.to_owned(),
        source_namespace: namespace.to_owned(),
        name: package.to_owned(),
        channel: Some(channel.to_owned()).filter(|channel| !channel.is_empty()),
        ..SubscriptionSpec::default()
    };
    Subscription { metadata: metadata(package, Some(namespace)), spec, status: None }
}

/// A ServiceAccount.
pub fn service_account(namespace: &str, name: &str) -> ServiceAccount {
    ServiceAccount { metadata: metadata(name, Some(namespace)), ..ServiceAccount::default() }
}

/// Rights in the whole cluster for one ServiceAccount.
pub fn cluster_role(
    name: &str,
    namespace: &str,
    service_account: &str,
    rules: Vec<PolicyRule>,
) -> (ClusterRole, ClusterRoleBinding) {
    let role = ClusterRole {
        metadata: metadata(name, None),
        rules: Some(rules),
        ..ClusterRole::default()
    };
    let binding = ClusterRoleBinding {
        metadata: metadata(name, None),
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "ClusterRole".to_owned(),
            name: name.to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: service_account.to_owned(),
            namespace: Some(namespace.to_owned()),
            ..Subject::default()
        }]),
    };
    (role, binding)
}

fn metadata(name: &str, namespace: Option<&str>) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        ..ObjectMeta::default()
    }
}
