//! Programs of OLM v0 that ours are compared with.

mod olm_v0;
mod serving;

pub use olm_tools::{ConfigMapServer, OlmV0, Opm};
pub use olm_v0::start as start_olm_v0;
pub use serving::ServedCatalog;
