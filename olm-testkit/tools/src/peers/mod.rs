//! Programs of OLM v0 that ours are compared with.

mod olm_v0;
mod opm;

pub use olm_v0::OlmV0;
pub use opm::Opm;
