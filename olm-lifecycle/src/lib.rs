//! What should happen next, for every kind: the decide half of both operators.
//!
//! Each module takes a value that says what was observed and the time, and answers with effects:
//! data of `olm-effect` that an interpreter executes. Nothing here reads a cluster, a clock or a
//! file, and every function has an answer for bad input.

pub mod catalog_source;
pub mod copied_csv;
pub mod crd;
pub mod csv;
pub mod install;
pub mod install_plan;
pub mod operator_group;
mod operator_rights;
mod role_writes;
pub mod subscription;
pub mod writes;
