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
mod trust;

pub use attestor::Attestor;
pub use olm_opgroup::TenantPolicy;
pub use reach::Reach;
pub use steps::StepTrust;
pub use trust::Trust;

/// Name of the Secret, in OLM's namespace, with the key of the marks.
pub const ATTESTATION_KEY: &str = "olm-attestation-key";
