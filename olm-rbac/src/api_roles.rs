//! The ClusterRoles of an API that an operator provides (spec olm-operator 4.6).
//!
//! Kubernetes adds them to its own `admin`, `edit` and `view` roles, and OperatorGroups add them to
//! theirs, both by label. Names belong to the cluster: all CSVs that own an API share its roles,
//! whose content depends on the API alone.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use olm_types::gvk::{CrdName, Gvk};
use olm_types::owner::non_blocking_owner;
use olm_types::{hash, labels};

use crate::generated::{Level, named, rule};

const CRD_GROUP: &str = "apiextensions.k8s.io";

/// The roles of a custom resource: one per [`Level`], and one to read its definition.
/// `uid` is that of the CustomResourceDefinition, which owns the roles.
pub fn crd_roles(crd: &CrdName, version: &str, kind: &str, uid: &str) -> Vec<ClusterRole> {
    let api = Gvk::new(&crd.group, version, kind);
    let name = crd.to_string();
    let owner =
        non_blocking_owner("apiextensions.k8s.io/v1", "CustomResourceDefinition", &name, uid);
    let mut roles = level_roles(&name, &crd.group, &crd.plural, &api, &owner);
    let definition = rule(&["get"], CRD_GROUP, "customresourcedefinitions", Some(&name));
    roles.push(ClusterRole {
        rules: Some(vec![definition]),
        ..role(&format!("{name}-{version}-crdview"), Level::View, &api, &owner)
    });
    roles
}

/// The roles of an API that is served by an extension server: one per [`Level`]. `resource` is the
/// plural name, `uid` that of the APIService, which owns the roles.
pub fn api_service_roles(resource: &str, api: &Gvk, uid: &str) -> Vec<ClusterRole> {
    let service = format!("{}.{}", api.version, api.group);
    let owner = non_blocking_owner("apiregistration.k8s.io/v1", "APIService", &service, uid);
    level_roles(resource, &api.group, resource, api, &owner)
}

fn level_roles(
    prefix: &str,
    group: &str,
    resource: &str,
    api: &Gvk,
    owner: &OwnerReference,
) -> Vec<ClusterRole> {
    let role_of = |level: Level| ClusterRole {
        rules: Some(vec![rule(level.verbs(), group, resource, None)]),
        ..role(&format!("{prefix}-{}-{}", api.version, level.suffix()), level, api, owner)
    };
    Level::ALL.into_iter().map(role_of).collect()
}

fn role(name: &str, level: Level, api: &Gvk, owner: &OwnerReference) -> ClusterRole {
    let suffix = level.suffix();
    let yes = || "true".to_owned();
    let labels = BTreeMap::from([
        (format!("{}{suffix}", labels::RBAC_AGGREGATE_PREFIX), yes()),
        (labels::aggregate_to(&hash::api_hash(&api.to_string()), suffix), yes()),
    ]);
    let mut metadata = named(name, labels);
    metadata.owner_references = Some(vec![owner.clone()]);
    ClusterRole { metadata, ..ClusterRole::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::summary;

    #[test]
    fn a_custom_resource_has_four_roles() {
        let crd = CrdName::parse("kogitoruntimes.app.kiegroup.org").unwrap();
        let roles = crd_roles(&crd, "v1beta1", "KogitoRuntime", "u");
        let expected = [
            "kogitoruntimes.app.kiegroup.org-v1beta1-admin: * app.kiegroup.org/kogitoruntimes []",
            "kogitoruntimes.app.kiegroup.org-v1beta1-edit: create,update,patch,delete app.kiegroup.org/kogitoruntimes []",
            "kogitoruntimes.app.kiegroup.org-v1beta1-view: get,list,watch app.kiegroup.org/kogitoruntimes []",
            "kogitoruntimes.app.kiegroup.org-v1beta1-crdview: get apiextensions.k8s.io/customresourcedefinitions [kogitoruntimes.app.kiegroup.org]",
        ];
        assert_eq!(roles.iter().map(summary).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn labels_are_those_of_v0() {
        let crd = CrdName::parse("kogitoruntimes.app.kiegroup.org").unwrap();
        let roles = crd_roles(&crd, "v1beta1", "KogitoRuntime", "u");
        let labels = |role: &ClusterRole| -> Vec<String> {
            role.metadata.labels.iter().flatten().map(|(key, _)| key.clone()).collect()
        };
        let expected = |suffix: &str| {
            vec![
                "olm.managed".to_owned(),
                format!("olm.opgroup.permissions/aggregate-to-49c79430430b06f9-{suffix}"),
                format!("rbac.authorization.k8s.io/aggregate-to-{suffix}"),
            ]
        };
        let found: Vec<_> = roles.iter().map(labels).collect();
        assert_eq!(found, ["admin", "edit", "view", "view"].map(expected));
    }

    #[test]
    fn the_definition_owns_the_roles() {
        let crd = CrdName::parse("as.g.io").unwrap();
        for role in crd_roles(&crd, "v1", "A", "u") {
            let owners = role.metadata.owner_references.unwrap();
            assert_eq!(owners.len(), 1);
            assert_eq!(owners[0].kind, "CustomResourceDefinition");
            assert_eq!((owners[0].name.as_str(), owners[0].uid.as_str()), ("as.g.io", "u"));
        }
    }

    #[test]
    fn a_served_api_has_three_roles() {
        let roles = api_service_roles("as", &Gvk::new("g.io", "v1", "A"), "u");
        let expected = [
            "as-v1-admin: * g.io/as []",
            "as-v1-edit: create,update,patch,delete g.io/as []",
            "as-v1-view: get,list,watch g.io/as []",
        ];
        assert_eq!(roles.iter().map(summary).collect::<Vec<_>>(), expected);
    }
}
