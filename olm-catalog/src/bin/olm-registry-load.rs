//! Measures a registry server; everything is in `olm_catalog::load`.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match olm_catalog::load::main(std::env::args_os()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
