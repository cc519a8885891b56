//! What should happen next, for every kind: the decide half of both operators.
//!
//! Each module takes a value that says what was observed and the time, and answers with effects:
//! data of `olm-effect` that an interpreter executes. Nothing here reads a cluster, a clock or a
//! file, and every function has an answer for bad input.
//!
//! ```
//! use olm_lifecycle::catalog_source::{Backend, backend};
//! use olm_types::api::CatalogSource;
//! use serde_json::json;
//!
//! let catalog: CatalogSource = serde_json::from_value(json!({
//!     "metadata": {"name": "community", "namespace": "olm"},
//!     "spec": {"sourceType": "grpc", "address": "community.olm.svc:50051"},
//! }))
//! .unwrap();
//! assert!(matches!(backend(&catalog), Ok(Backend::Address(_))));
//! ```

pub mod api_service;
pub mod catalog_source;
pub mod certificates;
pub mod cluster_operator;
pub mod copied_csv;
pub mod crd;
pub mod csv;
mod digest;
pub mod install;
pub mod install_plan;
pub mod labeller;
pub mod operator;
pub mod operator_condition;
pub mod operator_group;
mod operator_rights;
pub mod packages_api;
mod readiness;
mod role_writes;
pub mod subscription;
pub mod tenancy;
pub mod unpack;
pub mod webhook;
pub mod writes;

pub use digest::digest;
