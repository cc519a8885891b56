//! Works with catalogs and serves them; everything is in `olm_catalog::server` and, for programs
//! of another name, in `olm_catalog::tools`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use olm_catalog::server::{Arguments, run};

// One thread: answers come from the page cache, and more threads would mostly wake each other.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match called().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the program that this one is called as; `opm` and any unknown name are the same.
async fn called() -> Result<()> {
    #[cfg(feature = "tools")]
    if olm_catalog::tools::ConfigMapServer::is_called() {
        return olm_catalog::tools::ConfigMapServer::parse().run().await;
    }
    run(Arguments::parse()).await
}
