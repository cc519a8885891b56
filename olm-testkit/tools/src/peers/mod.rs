//! Programs of OLM v0 that ours are compared with.

mod config_map_server;
mod olm_v0;
mod opm;

pub use config_map_server::ConfigMapServer;
pub use olm_v0::OlmV0;
pub use opm::Opm;
