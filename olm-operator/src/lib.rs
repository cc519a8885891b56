//! The OLM operator: ClusterServiceVersions, OperatorGroups and the labels of namespaces.
//!
//! What should happen is decided by `olm-lifecycle`; this crate observes the cluster, asks it, and
//! has `olm-kit` carry out the answer. [`wiring`] puts everything together; [`controllers`] has one
//! folder per kind of work.

pub mod args;
mod changes;
mod clock;
mod components;
pub mod controllers;
mod dependents;
mod kept_copy;
mod metrics;
mod originals;
mod proxy;
mod queues;
mod rbac_view;
mod serving;
mod stores;
mod strip;
mod tenancy;
mod triggers;
pub mod wiring;

pub use args::Args;
pub use wiring::{run, run_with};
