//! One module per kind: what is observed, then the reconciler.

pub mod adoption;
pub mod api_service;
pub mod cluster_operator;
pub mod copied_csv;
pub mod csv;
pub mod labeller;
pub mod namespace;
pub mod olm_config;
pub mod operator;
pub mod operator_condition;
pub mod operator_group;
