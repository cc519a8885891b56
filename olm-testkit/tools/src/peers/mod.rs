//! Programs of others that ours are compared with: of OLM v0, its acceptance suite, and kstatus.

mod acceptance;
mod config_map_server;
mod kstatus;
mod olm_v0;
mod opm;

pub use acceptance::AcceptanceSuite;
pub use config_map_server::ConfigMapServer;
pub use kstatus::KStatus;
pub use olm_v0::OlmV0;
pub use opm::Opm;
