//! One folder per kind: observe, then reconcile.

pub mod csv;
pub mod namespace;
pub mod operator_group;
