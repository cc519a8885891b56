//! `cargo xtask take-over`: from OLM v0 to ours and back, on one cluster.
//!
//! The real operators of v0 install operators; ours take over, then v0 does again. Nothing that
//! users installed may restart, whoever takes over may write nothing but what has to do with v0's
//! package server, and each change of an object has a reason in a list. Pods are simulated, the API server and all operators are real.

mod managed;
mod report;
mod served;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use olm_testkit::peer::OlmV0;
use olm_testkit::progress::Progress;
use olm_testkit::take_over::{Changes, Content, recording};

use managed::ManagedCluster;
use xtask::build::programs;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Writes down what v0 leaves in a cluster, for the scenarios, and takes nothing over
    #[arg(long)]
    record: bool,
    /// Ours serve the catalog by image themselves in between (`--catalogs=process`): v0 has exactly its own objects of
    /// it again afterwards
    #[arg(long, conflicts_with = "record")]
    process: bool,
    /// Keeps the logs of all operators in this folder
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// Uses the binaries in this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// The operators of v0 cannot be built, the cluster cannot be used, or something was restarted or
/// written that should not have been.
pub fn run(arguments: &Arguments) -> Result<()> {
    let v0 = OlmV0::ensure(&Progress::to_stderr())?;
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(false)?,
    };
    let content = if arguments.record { Content::Durable } else { Content::Everything };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        let mut managed =
            ManagedCluster::begin(v0, &binaries, arguments.logs.as_deref(), content).await?;
        let reported = match (arguments.record, arguments.process) {
            (true, _) => record(&mut managed).await.map(|()| true),
            (false, true) => through_the_operator(&mut managed).await.map(|()| true),
            (false, false) => there_and_back(&mut managed).await,
        };
        managed.end().await?;
        match reported? {
            true => Ok(()),
            false => bail!("what should have stayed was restarted or written"),
        }
    })
}

async fn record(managed: &mut ManagedCluster) -> Result<()> {
    let text = managed.record().await?;
    let file = recording::file();
    std::fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{} objects of {} were written down", text.lines().count() - 2, OlmV0::version());
    Ok(())
}

/// Whether both ways are as they should be.
async fn there_and_back(managed: &mut ManagedCluster) -> Result<bool> {
    let forth = managed.ours_take_over().await?;
    println!("{forth}");
    let back = managed.v0_takes_over().await?;
    println!("{back}");
    let out_of_date = Changes::out_of_date(&[&forth.changes, &back.changes]);
    out_of_date.iter().for_each(|row| println!("accepted, and did not happen: {row}"));
    Ok(forth.is_good() && back.is_good() && out_of_date.is_empty())
}

/// Fails when v0 has other objects of a catalog after ours served it themselves.
async fn through_the_operator(managed: &mut ManagedCluster) -> Result<()> {
    let before = managed.ours_serve().await?;
    let back = managed.v0_takes_over().await?.after_serving();
    println!("{back}");
    managed.is_restored(&before).await?;
    ensure!(back.is_good(), "what should have stayed was restarted or changed");
    println!("v0 has its Service, Pod, endpoints and status of the catalog again");
    Ok(())
}
