//! Reasons in statuses, conditions and events, verbatim as users and tools read them.
//!
//! One module per kind. API types hold reasons as plain strings, so that an unknown one survives.

pub mod catalog_source;
pub mod csv;
pub mod event;
pub mod install_plan;
pub mod olm_config;
pub mod operator_group;
pub mod subscription;
