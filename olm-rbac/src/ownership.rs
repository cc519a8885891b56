//! Who may claim a RBAC object: the "owner conflict" rule of spec olm-operator 0.1.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::owner::{self, OwnerName};

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
    /// What it replaces. What belongs to these alone is deleted with them.
    pub replaced: Vec<Replaced>,
}

/// An object of the claimant's kind that the claimant replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
}

impl Claimant {
    /// Whether the claimant may rely on a RBAC object with `metadata`: it belongs to no other object,
    /// and stays when what the claimant replaces is gone.
    ///
    /// v0 counts what belongs to the replaced version, which is deleted as soon as the new one has
    /// succeeded: where the InstallPlan is slower, the new version then fails.
    pub fn may_rely_on(&self, metadata: &ObjectMeta) -> bool {
        !self.is_foreign(metadata) && !self.goes_with_replaced(metadata)
    }

    /// Whether the garbage collector, or the finalizer of a replaced object, deletes it.
    fn goes_with_replaced(&self, metadata: &ObjectMeta) -> bool {
        let references = metadata.owner_references.as_deref().unwrap_or_default();
        if references.is_empty() {
            // Owner labels count where owner references cannot reach.
            return metadata.namespace.is_none() && self.is_labelled_by_replaced(metadata);
        }
        references.iter().all(|owner| self.replaced.iter().any(|one| one.uid == owner.uid))
    }

    fn is_labelled_by_replaced(&self, metadata: &ObjectMeta) -> bool {
        let labels = metadata.labels.iter();
        let owner = labels.filter_map(|labels| owner::owner_by_label(labels, &self.kind)).next();
        owner.is_some_and(|OwnerName { namespace, name, .. }| {
            self.replaced.iter().any(|one| one.namespace == namespace && one.name == name)
        })
    }

    /// Whether `metadata` belongs to another object of the claimant's kind.
    ///
    /// Only owner references whose `apiVersion` is the bare version are looked at, as v0 does:
    /// references that OLM writes carry `group/version` and never conflict.
    fn is_foreign(&self, metadata: &ObjectMeta) -> bool {
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

    fn mk_claimant() -> Claimant {
        Claimant {
            version: "v1alpha1".to_owned(),
            kind: "ClusterServiceVersion".to_owned(),
            name: "a".to_owned(),
            uid: "a".to_owned(),
            replaced: vec![Replaced {
                namespace: "ns".to_owned(),
                name: "old".to_owned(),
                uid: "old".to_owned(),
            }],
        }
    }

    #[rstest]
    #[case::no_owner(vec![], false)]
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
        let metadata = ObjectMeta { owner_references: Some(owners), ..ObjectMeta::default() };
        assert_eq!(mk_claimant().is_foreign(&metadata), foreign);
    }

    /// What OLM writes: full API versions on references, labels at cluster scope.
    #[rstest]
    #[case::of_the_replaced(vec!["old"], false)]
    #[case::of_both(vec!["old", "a"], true)]
    #[case::of_something_that_stays(vec!["old", "subscription"], true)]
    #[case::of_the_claimant(vec!["a"], true)]
    #[case::without_owner(vec![], true)]
    fn what_goes_with_the_replaced(#[case] owners: Vec<&str>, #[case] relied_on: bool) {
        let version = "operators.coreos.com/v1alpha1";
        let owners = owners.into_iter().map(|uid| mk_owner(version, "ClusterServiceVersion", uid));
        let metadata =
            ObjectMeta { owner_references: Some(owners.collect()), ..ObjectMeta::default() };
        assert_eq!(mk_claimant().may_rely_on(&metadata), relied_on);
    }

    #[rstest]
    #[case::of_the_replaced("old", "ns", None, false)]
    #[case::of_the_claimant("a", "ns", None, true)]
    #[case::of_a_namesake("old", "elsewhere", None, true)]
    #[case::only_a_label("old", "ns", Some("ns"), true)]
    fn labels_at_cluster_scope(
        #[case] owner: &str,
        #[case] home: &str,
        #[case] namespace: Option<&str>,
        #[case] relied_on: bool,
    ) {
        let metadata = ObjectMeta {
            labels: Some(owner::owner_labels(owner, home, "ClusterServiceVersion")),
            namespace: namespace.map(str::to_owned),
            ..ObjectMeta::default()
        };
        assert_eq!(mk_claimant().may_rely_on(&metadata), relied_on);
    }
}
