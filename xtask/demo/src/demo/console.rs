//! The console, left open on what the demo has made.

use anyhow::{Context, Result, ensure};
use tokio::signal::ctrl_c;

use super::install::NAMESPACE;
use super::setup::Setup;
use super::timeline::Timeline;
use super::tool::Tool;

/// Serves until Ctrl-C; the program prints its address itself.
pub(super) async fn stay_open(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter("The console: catalog, operators, plans and health in a browser");
    let mut command = Tool::of(setup, NAMESPACE).command(&["console"])?;
    let mut child = command.kill_on_drop(true).spawn().context("cannot run kubectl olm")?;
    tokio::select! {
        // The program gets it, too, and ends.
        asked = ctrl_c() => asked.context("Ctrl-C is not noticed")?,
        ended = child.wait() => {
            let status = ended.context("kubectl olm console is lost")?;
            // Ctrl-C ends it first, at times.
            ensure!(status.code().is_none_or(|code| code == 0), "the console ends with {status}");
        }
    }
    timeline.event("console", "it has ended");
    Ok(())
}
