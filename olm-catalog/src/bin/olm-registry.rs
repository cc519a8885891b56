//! Serves file-based catalogs; everything is in `olm_catalog::server`.

use std::process::ExitCode;

use clap::Parser;
use olm_catalog::server::{Arguments, run};

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
