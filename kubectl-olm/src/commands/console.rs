//! `console`: catalogs, plans and health in a browser.

use anyhow::{Context, Result};
use olm_client::Cluster;
use olm_console::{Console, Server};

use crate::Outcome;
use crate::args::ConsoleArgs;
use crate::output::Output;

/// Serves the console until it is interrupted. Standard output has the address to open, and nothing else.
pub async fn run(
    cluster: &Cluster,
    flags: Vec<String>,
    asked: &ConsoleArgs,
    output: Output,
) -> Result<Outcome> {
    let server = Server::bind(asked.port).await?;
    output.print(&format!("{}\n", server.url()))?;
    Output::complain("Open this address; it works once. Ctrl-C ends the console.");
    let console = Console { cluster: cluster.clone(), reading: asked.reading.clone(), flags };
    tokio::select! {
        ended = server.serve(console) => ended?,
        interrupted = tokio::signal::ctrl_c() => interrupted.context("no signal can be waited for")?,
    }
    Ok(Outcome::Fine)
}
