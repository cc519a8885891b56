//! Rights of a namespace, given for the whole cluster or for one more namespace (spec
//! olm-operator 4.7).

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, Role, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::owner::{non_blocking_owner, owner_labels};
use olm_types::{api::ClusterServiceVersion, labels};

use crate::generated::{named, rule};

/// The ClusterRole of the same name and labels. An operator that watches all namespaces must be
/// able to list them, too.
pub fn lift_role(role: &Role) -> ClusterRole {
    let mut rules = role.rules.clone().unwrap_or_default();
    rules.push(rule(&["get", "list", "watch"], "", "namespaces", None));
    ClusterRole { metadata: lifted(&role.metadata), rules: Some(rules), ..ClusterRole::default() }
}

/// The ClusterRoleBinding of the same name, labels and subjects, to the lifted role.
pub fn lift_binding(binding: &RoleBinding) -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata: lifted(&binding.metadata),
        role_ref: RoleRef { kind: "ClusterRole".to_owned(), ..binding.role_ref.clone() },
        subjects: spelled_out(binding),
    }
}

/// The subjects, with the namespace of the binding where they leave it out: elsewhere that would
/// name another account.
fn spelled_out(binding: &RoleBinding) -> Option<Vec<Subject>> {
    let mut subjects = binding.subjects.clone();
    for subject in subjects.iter_mut().flatten() {
        if subject.kind == "ServiceAccount" && subject.namespace.is_none() {
            subject.namespace.clone_from(&binding.metadata.namespace);
        }
    }
    subjects
}

fn lifted(metadata: &ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: metadata.name.clone(),
        labels: metadata.labels.clone(),
        ..ObjectMeta::default()
    }
}

/// The copy of a CSV on whose behalf rights are copied into its namespace.
#[derive(Clone, Copy, Debug)]
pub struct CopyOwner<'a> {
    /// Namespace of the original.
    pub origin: &'a str,
    /// Namespace of the copy.
    pub namespace: &'a str,
    /// Name of both.
    pub name: &'a str,
    /// uid of the copy.
    pub uid: &'a str,
}

/// The Role in the namespace of the copy; it goes when the copy goes.
pub fn copy_role(role: &Role, owner: CopyOwner<'_>) -> Role {
    Role { metadata: copied(&role.metadata, owner), rules: role.rules.clone() }
}

/// The RoleBinding in the namespace of the copy; it goes when the copy goes.
pub fn copy_binding(binding: &RoleBinding, owner: CopyOwner<'_>) -> RoleBinding {
    let metadata = copied(&binding.metadata, owner);
    RoleBinding { metadata, subjects: spelled_out(binding), role_ref: binding.role_ref.clone() }
}

fn copied(metadata: &ObjectMeta, owner: CopyOwner<'_>) -> ObjectMeta {
    let kind = ClusterServiceVersion::KIND;
    let mut labels: BTreeMap<String, String> = owner_labels(owner.name, owner.namespace, kind);
    labels.insert(labels::COPIED_FROM.to_owned(), owner.origin.to_owned());
    let reference =
        non_blocking_owner(ClusterServiceVersion::API_VERSION, kind, owner.name, owner.uid);
    ObjectMeta {
        namespace: Some(owner.namespace.to_owned()),
        owner_references: Some(vec![reference]),
        ..named(metadata.name.as_deref().unwrap_or_default(), labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::tests::mk_rule;
    use crate::generated::tests::summary;

    fn mk_metadata() -> ObjectMeta {
        ObjectMeta {
            name: Some("csv-role".to_owned()),
            namespace: Some("op".to_owned()),
            uid: Some("u".to_owned()),
            labels: Some(owner_labels("csv", "op", "ClusterServiceVersion")),
            ..ObjectMeta::default()
        }
    }

    fn mk_binding() -> RoleBinding {
        RoleBinding {
            metadata: mk_metadata(),
            role_ref: RoleRef {
                api_group: Some("rbac.authorization.k8s.io".to_owned()),
                kind: "Role".to_owned(),
                name: "csv-role".to_owned(),
            },
            subjects: None,
        }
    }

    #[test]
    fn a_lifted_role_may_also_read_namespaces() {
        let role = Role {
            metadata: mk_metadata(),
            rules: Some(vec![mk_rule("get", "g.io", "as", "", "")]),
        };
        let lifted = lift_role(&role);
        assert_eq!(summary(&lifted), "csv-role: get g.io/as []; get,list,watch /namespaces []");
        assert_eq!(lifted.metadata.labels, role.metadata.labels);
        assert_eq!((lifted.metadata.namespace, lifted.metadata.uid), (None, None));
    }

    #[test]
    fn a_lifted_binding_names_the_lifted_role() {
        let lifted = lift_binding(&mk_binding());
        assert_eq!(
            (lifted.role_ref.kind.as_str(), lifted.role_ref.name.as_str()),
            ("ClusterRole", "csv-role")
        );
    }

    #[test]
    fn an_account_without_namespace_stays_the_one_it_was() {
        let mut binding = mk_binding();
        let subject = Subject {
            kind: "ServiceAccount".to_owned(),
            name: "sa".to_owned(),
            ..Subject::default()
        };
        binding.subjects = Some(vec![subject]);
        let owner = CopyOwner { origin: "op", namespace: "t", name: "csv", uid: "copy" };
        let namespaces = [lift_binding(&binding).subjects, copy_binding(&binding, owner).subjects]
            .map(|subjects| subjects.unwrap()[0].namespace.clone());
        assert_eq!(namespaces, [Some("op".to_owned()), Some("op".to_owned())]);
    }

    #[test]
    fn a_copy_belongs_to_the_copied_csv() {
        let owner = CopyOwner { origin: "op", namespace: "t", name: "csv", uid: "copy" };
        let metadata = copy_binding(&mk_binding(), owner).metadata;
        let text: Vec<String> =
            metadata.labels.iter().flatten().map(|(k, v)| format!("{k}={v}")).collect();
        let expected = [
            "olm.copiedFrom=op",
            "olm.managed=true",
            "olm.owner=csv",
            "olm.owner.kind=ClusterServiceVersion",
            "olm.owner.namespace=t",
        ];
        assert_eq!(text, expected);
        assert_eq!(metadata.owner_references.unwrap()[0].uid, "copy");
        assert_eq!(metadata.namespace.as_deref(), Some("t"));
    }
}
