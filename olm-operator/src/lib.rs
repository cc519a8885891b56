//! The OLM operator: ClusterServiceVersions, OperatorGroups and the labels of namespaces.
//!
//! What should happen is decided by `olm-lifecycle`; this crate observes the cluster, asks it, and
//! has `olm-kit` carry out the answer. [`wiring`] puts everything together; [`controllers`] has one
//! folder per kind of work.

pub mod args;
mod changes;
mod components;
pub mod controllers;
mod dependents;
mod metrics;
mod originals;
mod pace;
mod proxy;
mod queues;
mod serving;
mod stored_copy;
mod stores;
mod strip;
mod tenancy;
mod triggers;
pub mod wiring;

use olm_kit::clock;
use olm_kit::flags::CommandLine;

pub use args::Args;
pub use wiring::{run, run_with};

/// The program: reads the command line and runs until a signal ends it.
///
/// # Errors
/// As [`run`].
#[tokio::main]
pub async fn main() -> anyhow::Result<()> {
    run(CommandLine::of_this_process()).await
}
