//! The program `olm-registry`, which other programs are links to.

use std::process::ExitCode;

use anyhow::Result;

use super::{Arguments, run};

/// Runs the program that this one is called as.
///
/// It has one thread: answers come from the page cache, and more threads would mostly wake each other.
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> ExitCode {
    match called().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// `opm` and any unknown name are the same.
async fn called() -> Result<()> {
    #[cfg(feature = "tools")]
    if crate::tools::ConfigMapServer::is_called() {
        return olm_flags::of_this_process::<crate::tools::ConfigMapServer>().run().await;
    }
    run(olm_flags::of_this_process::<Arguments>()).await
}
