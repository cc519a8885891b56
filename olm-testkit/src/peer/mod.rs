//! Programs of OLM v0 that ours are compared with, built from their Go modules.

mod opm;
mod serving;

pub use opm::Opm;
pub use serving::ServedCatalog;
