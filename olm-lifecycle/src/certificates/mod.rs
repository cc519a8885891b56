//! Certificates of the servers that the API server calls: which a CSV needs, whether those in its
//! Secrets may stay, and what an install and a rotation write (spec olm-operator 3.6).
//!
//! Nothing is issued here: a decision that needs a certificate asks for it with a
//! [`olm_effect::CertificateOrder`] and goes on once [`olm_effect::Issued`] is there.
//!
//! A rotation fails no request. Before the certificate of a server ends, the next one is put beside
//! it and everyone who calls the server learns to trust both authorities; then pods get the new
//! one; when no pod shows the old one any more, its authority is forgotten.

mod bundle;
mod certificate;
mod demand;
mod install;
mod judge;
mod mount;
mod names;
mod observed;
mod order;
mod provision;
mod rights;
mod rotation;
mod secret;
mod writes;

use olm_effect::Effect;

pub use bundle::{join, newest, trusts};
pub(crate) use certificate::authority_hash;
pub use certificate::{Certificate, CertificateError};
pub use demand::{Demand, demands, owned_api_services};
pub(crate) use demand::{api_service_port, webhook_port};
pub use install::ServingPlan;
pub(crate) use install::plan_serving;
pub use judge::{Judgement, RENEWED_BEFORE_END, Unusable, judge, rotate_at};
pub(crate) use mount::with_mounts;
pub use names::ServingNames;
pub use observed::ServingObjects;
pub use order::order;
pub use rights::{KUBE_SYSTEM, auth_readers};
pub(crate) use rotation::is_announced;
pub use rotation::{Announcement, Condition, announce, condition, trim};
pub use secret::{Material, ServingSecret, is_serving};

/// The writes of those who call a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServingWrites {
    /// Changes of objects that exist: they come before a server shows a new certificate.
    pub updates: Vec<Effect>,
    /// New objects: they come after the server.
    pub creations: Vec<Effect>,
}

#[cfg(test)]
pub(crate) mod tests;
