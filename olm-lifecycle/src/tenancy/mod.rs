//! What the owner of a namespace may have done with OLM's own rights (docs/security.md).
//!
//! In v0 whoever may write OLM's objects in a namespace has OLM act for him with all of its rights.
//! Under the strict policy OLM's own rights serve what an administrator let in: the content of
//! global catalogs, and namespaces that he trusts. That an object holds such content is shown by a
//! mark that only the operators can make ([`Attestor`]); everything else is done with the rights of
//! the ServiceAccount that the OperatorGroup names, or not at all.

mod attestor;
mod mac;
mod reach;
mod steps;

use std::collections::BTreeSet;

use olm_types::api::{ClusterServiceVersion, OperatorGroup};

pub use attestor::Attestor;
pub use olm_opgroup::TenantPolicy;
pub use reach::Reach;
pub use steps::StepTrust;

/// Name of the Secret, in OLM's namespace, with the key of the marks.
pub const ATTESTATION_KEY: &str = "olm-attestation-key";

/// What OLM's own rights may serve, as far as CSVs and groups are concerned.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// How far tenants are trusted; under v0's policy everything is.
    pub policy: TenantPolicy,
    /// Namespaces that an administrator trusts.
    pub namespaces: BTreeSet<String>,
    /// Knows the CSVs that come from global catalogs.
    pub attestor: Attestor,
}

impl Trust {
    /// Whether everything in a namespace is trusted.
    pub fn namespace(&self, name: Option<&str>) -> bool {
        self.policy == TenantPolicy::V0 || name.is_some_and(|name| self.namespaces.contains(name))
    }

    /// Whether a CSV may reach beyond its namespace.
    pub fn csv(&self, csv: &ClusterServiceVersion) -> bool {
        self.namespace(csv.metadata.namespace.as_deref()) || self.attestor.attests_csv(csv)
    }

    /// Whether what a CSV's properties say concerns more than its namespace.
    pub fn properties(&self, csv: &ClusterServiceVersion) -> bool {
        let namespace = csv.metadata.namespace.as_deref();
        self.namespace(namespace) || self.attestor.attests_properties(csv)
    }

    /// Whether `own` has to give way to the APIs that `other` claims: a tenant's claim does not
    /// count where an administrator trusts the namespace.
    pub fn yields_to(&self, own: &OperatorGroup, other: &OperatorGroup) -> bool {
        let trusted = |group: &OperatorGroup| self.namespace(group.metadata.namespace.as_deref());
        !trusted(own) || trusted(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn group(namespace: &str) -> OperatorGroup {
        let mut group = OperatorGroup::new("og", Default::default());
        group.metadata.namespace = Some(namespace.to_owned());
        group
    }

    #[rstest]
    #[case::v0(TenantPolicy::V0, "admin", "tenant", true)]
    #[case::a_tenant_claims(TenantPolicy::Strict, "admin", "tenant", false)]
    #[case::a_tenant_is_reported(TenantPolicy::Strict, "tenant", "admin", true)]
    #[case::among_tenants(TenantPolicy::Strict, "tenant", "another", true)]
    #[case::among_trusted(TenantPolicy::Strict, "admin", "admin", true)]
    fn claims(
        #[case] policy: TenantPolicy,
        #[case] own: &str,
        #[case] other: &str,
        #[case] heeded: bool,
    ) {
        let namespaces = ["admin".to_owned()].into();
        let trust = Trust { policy, namespaces, ..Trust::default() };
        assert_eq!(trust.yields_to(&group(own), &group(other)), heeded);
    }
}
