//! One folder per kind: observe, then reconcile.

pub mod copied_csv;
pub mod csv;
pub mod namespace;
pub mod olm_config;
pub mod operator_group;
