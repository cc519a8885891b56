//! The catalog operator: CatalogSources, Subscriptions, resolution and InstallPlans.
//!
//! What should happen is decided by `olm-lifecycle` and `olm-resolver`; this crate observes the
//! cluster and the catalogs, asks them, and has `olm-kit` carry out the answer. [`wiring`] puts
//! everything together; [`controllers`] has one folder per kind of work.

pub mod args;
pub mod catalogs;
pub mod controllers;
pub mod digest;
mod forbidden_plans;
pub mod hosting;
mod metrics;
mod packages;
mod queues;
mod relevance;
pub mod servers;
mod slots;
mod stores;
mod tenancy;
mod triggers;
pub mod unpack;
pub mod wiring;

pub use args::Args;
pub use wiring::{run, run_with};

use anyhow::Context;
use olm_kit::flags::CommandLine;
use olm_kit::tasks;

/// The wall clock, which is read in whole seconds here.
mod clock {
    pub(crate) use olm_kit::clock::now_in_seconds as now;
}

/// The program: reads the command line and runs until a signal ends it.
///
/// # Errors
/// As [`run`]; or there are no threads.
pub fn main() -> anyhow::Result<()> {
    let runtime = tasks::runtime().context("cannot start the async runtime")?;
    runtime.block_on(run(CommandLine::of_this_process()))
}
