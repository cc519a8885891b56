//! The command line of `olm-registry`.

mod arguments;
mod cache;
mod catalog_image;
mod graph;
mod list;
#[cfg(feature = "pull")]
mod pull;
mod render;
mod run;
mod serve;

use std::process::ExitCode;

use anyhow::Result;

pub use arguments::{Arguments, Command};
pub use run::run;

#[cfg(feature = "tools")]
pub(crate) use serve::{TERMINATION_LOG, write_termination_log};
#[cfg(feature = "tools")]
pub(crate) use serve::{log, serve_source};

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
