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
mod proxy;
mod queues;
mod serving;
mod status_delay;
mod stored_copy;
mod stores;
mod strip;
mod tenancy;
mod triggers;
pub mod wiring;

use anyhow::Context;
use olm_kit::flags::CommandLine;
use olm_kit::{clock, tasks};

pub use args::Args;
pub use wiring::{run, run_with};

/// The program: reads the command line and runs until a signal ends it.
///
/// # Errors
/// As [`run`]; or there are no threads.
pub fn main() -> anyhow::Result<()> {
    let runtime = tasks::runtime().context("cannot start the async runtime")?;
    runtime.block_on(run(CommandLine::of_this_process()))
}
