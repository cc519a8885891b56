//! Programs of others that ours are compared with: of OLM v0, kstatus, and what Argo CD makes of Subscriptions.

pub mod argo_cd;
mod olm_v0;
mod serving;

pub use olm_tools::{AcceptanceSuite, ConfigMapServer, KStatus, OlmV0, Opm};
pub use olm_v0::start as start_olm_v0;
pub use serving::ServedCatalog;
