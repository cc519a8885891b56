//! Programs of OLM v0 that ours are compared with, built from their Go modules.

mod go_module;
mod olm_v0;
mod opm;
mod serving;

pub use olm_v0::{OlmV0, PROGRAMS as OLM_V0_PROGRAMS};
pub use opm::Opm;
pub use serving::ServedCatalog;
