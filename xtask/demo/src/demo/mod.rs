//! `cargo xtask demo`: the main job, before your eyes.
//!
//! A real API server, the two operators, a catalog, a Subscription, and what becomes of it; then
//! upgrades: through several versions, after an approval that `kubectl olm` shows and gives, and one that gets
//! stuck; at last a Subscription that cannot be resolved, which its doctor finds. Everything that is printed was read from the API. The
//! command fails when anything differs from what it announces.

mod approval;
mod broken;
mod explain;
mod guestbooks;
mod install;
mod phases;
mod quota;
mod refused;
mod setup;
mod subscription;
mod summary;
mod timeline;
mod tool;
mod update;
mod workloads;

use anyhow::{Context, Result};
use clap::Args;
use xtask::build::programs;

use crate::cluster::Backend;
use setup::Setup;
use timeline::Timeline;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Leaves cluster and operators running and says how to use them
    #[arg(long)]
    keep: bool,
    /// Opens the console of the demo's namespace at the end, until Ctrl-C
    #[arg(long)]
    console: bool,
    /// What plays the cluster
    #[arg(long, value_enum, default_value_t)]
    cluster: Backend,
    /// Builds and runs the operators as they would be shipped
    #[arg(long)]
    release: bool,
}

/// Runs the demo.
pub fn run(arguments: &Arguments) -> Result<()> {
    let binaries = programs(arguments.release)?;
    let timeline = Timeline::start();
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        let setup = Setup::set(&timeline, arguments, &binaries).await?;
        let played = play(&timeline, &setup).await;
        // A dead operator explains a failure better than what was waited for.
        let mut played = setup.fixture.check().and(played);
        if arguments.console && played.is_ok() {
            played = tool::stay_open_console(&timeline, &setup).await;
        }
        setup.leave(&timeline, arguments.keep).await.and(played)
    })
}

async fn play(timeline: &Timeline, setup: &Setup) -> Result<()> {
    install::catalog(timeline, setup).await?;
    install::operators(timeline, setup).await?;
    update::followed(timeline, setup).await?;
    approval::given(timeline, setup).await?;
    broken::stuck_and_repaired(timeline, setup).await?;
    refused::show(timeline, setup).await?;
    summary::memory(timeline, setup)
}
