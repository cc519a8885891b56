//! Label keys that OLM reads and writes (spec catalog-operator 0.1, olm-operator 0.1).
//!
//! Keys are wire contract: other software selects by them. Constants ending in `PREFIX` are not
//! keys themselves; a function beside each builds the key.

use thiserror::Error;

/// On every object that OLM creates, with value [`MANAGED_VALUE`]; makes it visible to filtered watches.
pub const MANAGED: &str = "olm.managed";
/// Value of [`MANAGED`] on objects that OLM created.
pub const MANAGED_VALUE: &str = "true";
/// Value of [`MANAGED`] on a ConfigMap that a user made and a CatalogSource reads.
pub const UNMANAGED_VALUE: &str = "false";

/// Name of the owner, where an owner reference cannot express it (other namespace, cluster scope).
pub const OWNER: &str = "olm.owner";
/// Namespace of the owner.
pub const OWNER_NAMESPACE: &str = "olm.owner.namespace";
/// Kind of the owner, for example `ClusterServiceVersion`.
pub const OWNER_KIND: &str = "olm.owner.kind";

/// On a catalog's pods, services and network policies: name of the CatalogSource.
pub const CATALOG_SOURCE: &str = "olm.catalogSource";
/// On EndpointSlices: name of their Service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// On EndpointSlices: who writes them.
pub const ENDPOINTS_MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Value of [`ENDPOINTS_MANAGED_BY`] on ours.
pub const ENDPOINTS_MANAGER: &str = "catalog-operator.olm-rs.dev";
/// On the pod that polls for a newer catalog image: name of the CatalogSource.
pub const CATALOG_SOURCE_UPDATE: &str = "catalogsource.operators.coreos.com/update";
/// Hash of the PodSpec of a catalog pod.
pub const POD_SPEC_HASH: &str = "olm.pod-spec-hash";
/// Hash of the ServiceSpec of a catalog's Service.
pub const SERVICE_SPEC_HASH: &str = "olm.service-spec-hash";
/// resourceVersion of the ConfigMap that a catalog pod serves.
pub const CONFIG_MAP_RESOURCE_VERSION: &str = "olm.configMapResourceVersion";

/// Content hash of Role, ClusterRole, RoleBinding and ClusterRoleBinding.
pub const PERMISSIONS_HASH: &str = "olm.permissions.hash";
/// Hash of the desired spec of an operator's Deployment.
pub const DEPLOYMENT_SPEC_HASH: &str = "olm.deployment-spec-hash";
/// On copied CSVs, Roles and RoleBindings: namespace of the original.
pub const COPIED_FROM: &str = "olm.copiedFrom";

/// On webhook configurations: `generateName` of the CSV's webhook description.
pub const WEBHOOK_GENERATE_NAME: &str = "olm.webhook-description-generate-name";
/// On webhook configurations: hash of the CSV's webhook description.
pub const WEBHOOK_HASH: &str = "olm.webhook-description-hash";

/// On bundle unpack jobs and their pods: the unpack name of the bundle image.
pub const BUNDLE_UNPACK_REF: &str = "operatorframework.io/bundle-unpack-ref";
/// Set by Kubernetes on the pods of a Job.
pub const JOB_NAME: &str = "job-name";
/// On a Namespace: its pod security level.
pub const POD_SECURITY_ENFORCE: &str = "pod-security.kubernetes.io/enforce";
/// On a CSV: the ClusterOperator whose status it feeds.
pub const CLUSTER_OPERATOR_NAME: &str = "olm.clusteroperator.name";

/// Start of the label on Namespaces that an OperatorGroup targets, see [`operator_group_uid`].
pub const OPERATOR_GROUP_UID_PREFIX: &str = "olm.operatorgroup.uid/";
/// Start of the label that an OperatorGroup's roles aggregate, see [`aggregate_to`].
pub const AGGREGATE_PREFIX: &str = "olm.opgroup.permissions/aggregate-to-";
/// Start of the label that Kubernetes' user roles aggregate: `admin`, `edit` or `view` follows.
pub const RBAC_AGGREGATE_PREFIX: &str = "rbac.authorization.k8s.io/aggregate-to-";
/// Start of the label that makes an object a component of an Operator, see [`component`].
pub const COMPONENT_PREFIX: &str = "operators.coreos.com/";

/// Longest name part of a label key that Kubernetes accepts.
const NAME_LIMIT: usize = 63;

/// Why an Operator has no component label key (texts of spec olm-operator 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ComponentKeyError {
    /// The name is empty.
    #[error("cannot generate component label key: empty name field")]
    Empty,
    /// Nothing that may end a label key is left of the name after cutting it to 63 characters.
    #[error("cannot generate component label key: unsupported name field")]
    Unsupported,
}

/// Key of the label on Namespaces that the OperatorGroup with this UID targets; its value is empty.
pub fn operator_group_uid(uid: &str) -> String {
    format!("{OPERATOR_GROUP_UID_PREFIX}{uid}")
}

/// Key by which the `admin`, `edit` or `view` role of an OperatorGroup aggregates the roles of an API.
pub fn aggregate_to(api_hash: &str, suffix: &str) -> String {
    format!("{AGGREGATE_PREFIX}{api_hash}-{suffix}")
}

/// Key of the label that makes an object a component of the Operator; its value is empty.
///
/// Names over 63 characters are cut there and lose trailing `.`, `_` and `-` (spec olm-operator 6.1).
pub fn component(operator: &str) -> Result<String, ComponentKeyError> {
    if operator.is_empty() {
        return Err(ComponentKeyError::Empty);
    }
    if operator.len() <= NAME_LIMIT {
        return Ok(format!("{COMPONENT_PREFIX}{operator}"));
    }
    let cut = operator.get(..NAME_LIMIT).unwrap_or_default();
    match cut.trim_end_matches(['.', '_', '-']) {
        "" => Err(ComponentKeyError::Unsupported),
        name => Ok(format!("{COMPONENT_PREFIX}{name}")),
    }
}

/// Whether an API server accepts the key of a component label. Names of packages come from catalogs
/// and users.
pub fn is_label_key(component: &str) -> bool {
    let name = component.strip_prefix(COMPONENT_PREFIX).unwrap_or(component).as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let at_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    name.len() <= NAME_LIMIT
        && name.iter().all(inner)
        && at_end(name.first())
        && at_end(name.last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("operators.coreos.com/3scale_A.my-ns", true)]
    #[case("operators.coreos.com/a/b", false)]
    #[case("operators.coreos.com/-a", false)]
    #[case("operators.coreos.com/a.", false)]
    #[case("operators.coreos.com/", false)]
    fn keys_that_an_api_server_accepts(#[case] key: &str, #[case] accepted: bool) {
        assert_eq!(is_label_key(key), accepted);
    }

    #[rstest]
    #[case("poultry.farm", "operators.coreos.com/poultry.farm".to_owned())]
    #[case(&"a".repeat(63), format!("operators.coreos.com/{}", "a".repeat(63)))]
    #[case(&"a".repeat(70), format!("operators.coreos.com/{}", "a".repeat(63)))]
    #[case(&format!("{}.-_x", "a".repeat(60)), format!("operators.coreos.com/{}", "a".repeat(60)))]
    fn component_keys(#[case] operator: &str, #[case] key: String) {
        assert_eq!(component(operator), Ok(key));
    }

    #[rstest]
    #[case("", ComponentKeyError::Empty)]
    #[case(&".".repeat(64), ComponentKeyError::Unsupported)]
    fn component_key_errors(#[case] operator: &str, #[case] error: ComponentKeyError) {
        assert_eq!(component(operator), Err(error));
    }

    #[test]
    fn built_keys() {
        assert_eq!(operator_group_uid("u-1"), "olm.operatorgroup.uid/u-1");
        assert_eq!(
            aggregate_to("96bd9b440496416a", "edit"),
            "olm.opgroup.permissions/aggregate-to-96bd9b440496416a-edit"
        );
    }
}
