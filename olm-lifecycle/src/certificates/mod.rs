//! Certificates of the servers that the API server calls: which a CSV needs, whether those in its
//! Secrets may stay, and what an install and a rotation write (spec olm-operator 3.6).
//!
//! Nothing is issued here: a decision that needs a certificate asks for it with a
//! [`olm_effect::CertificateOrder`] and goes on once [`olm_effect::Issued`] is there.
//!
//! A rotation fails no request. Before the certificate of a server ends, the next one is put beside
//! it and all callers of the server learn to trust both authorities; then pods get the new
//! one; when no pod shows the old one any more, its authority is forgotten.

mod bundle;
mod certificate;
mod install;
mod mount;
mod names;
mod observed;
mod provision;
mod rotation;
mod secret;
mod served_deployment;
mod server_roles;
mod serving_csv;
mod shared;
#[cfg(test)]
pub(crate) mod tests;
mod validity;
mod writes;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use olm_effect::{CertificateOrder, Effect};

pub use bundle::{join, newest, trusts};
pub(crate) use certificate::authority_hash;
pub use certificate::{Certificate, CertificateError};
pub use install::ServingPlan;
pub(crate) use install::plan_serving;
pub(crate) use mount::with_mounts;
pub use names::ServingNames;
pub use observed::ServingObjects;
pub(crate) use rotation::is_announced;
pub use rotation::{Announcement, Condition, announce, condition, trim};
pub use secret::{Material, ServingSecret, is_serving};
pub use served_deployment::{ServedDeployment, owned_api_services, served_deployments};
pub(crate) use served_deployment::{api_service_port, webhook_port};
pub use server_roles::{KUBE_SYSTEM, auth_readers};
pub use serving_csv::ServingCsv;
pub use shared::is_shared;
pub(crate) use shared::{is_named, left};
pub use validity::{RENEWED_BEFORE_END, Unusable, Validity, judge, rotate_at};

/// The writes of those who call a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServingWrites {
    /// Changes of objects that exist: they come before a server shows a new certificate.
    pub updates: Vec<Effect>,
    /// New objects: they come after the server.
    pub creations: Vec<Effect>,
}

/// Organization of every subject; v0's text.
const ORGANIZATION: &str = "Red Hat, Inc.";

/// Start of the common name of an authority; v0's text.
const AUTHORITY_PREFIX: &str = "olm-selfsigned-";

/// How long certificates are valid; v0's value, two years.
const VALIDITY: SignedDuration = SignedDuration::from_hours(730 * 24);

/// An order for servers, whose DNS names come by the name of their Secret, to be valid from now on.
pub fn order(servers: BTreeMap<String, Vec<String>>, now: Timestamp) -> CertificateOrder {
    CertificateOrder {
        organization: ORGANIZATION.to_owned(),
        authority: AUTHORITY_PREFIX.to_owned(),
        not_before: now,
        not_after: now.checked_add(VALIDITY).unwrap_or(Timestamp::MAX),
        servers,
    }
}
