//! Measures a registry server over a catalog: starts it twice, and asks it for everything.
//!
//! It is a program of its own because what developers run is not optimised, and would be slower
//! than the servers that it measures. `cargo xtask bench catalog` builds and runs it.

mod caller;
mod calls;
mod http2;
mod process;
mod start;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

/// What is read off a server.
#[derive(Clone, Copy, Debug, Serialize)]
struct Figures {
    /// From the start without an index to the first answer, in seconds.
    cold: f64,
    /// From the start with an index to the first answer, in seconds.
    warm: f64,
    /// Most resident memory up to the end of a listing, in MiB.
    peak: f64,
    /// Memory that belongs to no file after a listing, in MiB.
    anonymous: f64,
    /// Listing, in MiB per second.
    listing: f64,
    /// Single bundles per second, of several callers at the same time; the server has one processor,
    /// the callers have the others.
    getting: f64,
    /// Single bundles per second that the server computes.
    getting_computed: f64,
}

/// Prints the figures of the server program and the catalog that the arguments name, as JSON.
#[tokio::main]
async fn main() -> Result<()> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let program = paths.next().context("usage: olm-registry-load PROGRAM CATALOG")?;
    let catalog = paths.next().context("usage: olm-registry-load PROGRAM CATALOG")?;
    let figures = measure(&program, &catalog).await?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

async fn measure(program: &Path, catalog: &Path) -> Result<Figures> {
    let scratch = tempfile::tempdir().context("cannot create a folder for the index")?;
    let (served, cold) = start::start(program, catalog, scratch.path()).await?;
    served.stop();
    let (served, warm) = start::start(program, catalog, scratch.path()).await?;
    let mut client = calls::connect(served.address).await?;
    let (bundles, listing) = calls::list(&mut client).await?;
    let (peak, anonymous) = process::memory(served.pid())?;
    process::separate(served.pid());
    let before = process::computed(served.pid())?;
    let getting = calls::get_each(served.address, &bundles).await?;
    let computed = process::computed(served.pid())? - before;
    served.stop();
    Ok(Figures {
        cold: cold.as_secs_f64(),
        warm: warm.as_secs_f64(),
        peak,
        anonymous,
        listing,
        getting,
        getting_computed: calls::SINGLE as f64 / computed,
    })
}
