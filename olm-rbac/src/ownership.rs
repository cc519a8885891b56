//! Who may claim a RBAC object: the "owner conflict" rule of spec olm-operator 0.1.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::owner;

/// The object on whose behalf rights are looked at, usually a ClusterServiceVersion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimant {
    /// Bare version, for example `v1alpha1`.
    pub version: String,
    /// Kind, for example `ClusterServiceVersion`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
}

impl Claimant {
    /// Whether `metadata` belongs to another object of the claimant's kind.
    ///
    /// Only owner references whose `apiVersion` is the bare version are looked at, as v0 does:
    /// references that OLM writes carry `group/version` and never conflict.
    pub fn is_foreign(&self, metadata: &ObjectMeta) -> bool {
        let references = metadata.owner_references.as_deref().unwrap_or_default();
        owner::has_owner_conflict(&self.kind, &self.version, &self.name, &self.uid, references)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
    use rstest::rstest;

    fn mk_owner(api_version: &str, kind: &str, uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: uid.to_owned(),
            uid: uid.to_owned(),
            ..OwnerReference::default()
        }
    }

    #[rstest]
    #[case::nobody(vec![], false)]
    #[case::ours(vec![mk_owner("v1alpha1", "ClusterServiceVersion", "a")], false)]
    #[case::another(vec![mk_owner("v1alpha1", "ClusterServiceVersion", "b")], true)]
    #[case::shared(vec![
        mk_owner("v1alpha1", "ClusterServiceVersion", "b"),
        mk_owner("v1alpha1", "ClusterServiceVersion", "a"),
    ], false)]
    #[case::other_kind(vec![mk_owner("v1alpha1", "Subscription", "b")], false)]
    #[case::full_api_version(
        vec![mk_owner("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "b")], false)]
    fn conflicts(#[case] owners: Vec<OwnerReference>, #[case] foreign: bool) {
        let claimant = Claimant {
            version: "v1alpha1".to_owned(),
            kind: "ClusterServiceVersion".to_owned(),
            name: "a".to_owned(),
            uid: "a".to_owned(),
        };
        let metadata = ObjectMeta { owner_references: Some(owners), ..ObjectMeta::default() };
        assert_eq!(claimant.is_foreign(&metadata), foreign);
    }
}
