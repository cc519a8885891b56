//! `cargo xtask bench installs` and `bench floor`: what it costs to install five operators at once.
//!
//! Five packages of a real catalog are subscribed to in one namespace, at the same time, on a cluster of
//! its own with a simulated node. `--with-v0` has OLM v0 do the same on another such cluster. What our
//! install leaves is then written into more of them by a plain client, which does nothing else: the
//! time until that is Established and Available, in the middle of three clusters, is the floor.
//!
//! - [`content`]: which operators;
//! - [`super::olm`]: who installs them;
//! - [`mod@play`]: one install, from the Subscriptions on;
//! - [`writes`]: what was written, of the audit log;
//! - [`passes`]: what the controllers looked at without writing anything;
//! - [`floor`]: the same objects by a plain client;
//! - [`report`]: the table.

mod content;
mod floor;
mod passes;
mod play;
mod report;
mod writes;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use olm_testkit::peer::OlmV0;
use olm_testkit::progress::Progress;

use super::olm::Implementation;
use content::Content;
use play::{Played, WaitTimes};

/// Arguments of both commands.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder of a file-based catalog with the five packages; by default `community` below
    /// OLM_CORPUS, and a small sample where that is not set
    #[arg(long, value_name = "FOLDER")]
    catalog: Option<PathBuf>,
    /// Installs the operators of the tests, whatever OLM_CORPUS says
    #[arg(long, conflicts_with = "catalog")]
    sample: bool,
    /// Keeps the operators' logs in this folder
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// Seconds after the installs in which nothing more may be written
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    silence: u64,
}

impl Arguments {
    fn content(&self) -> Result<Content> {
        match &self.catalog {
            Some(folder) => Content::of(folder.clone()),
            None if self.sample => Content::sample(),
            None => Content::find(std::env::var_os("OLM_CORPUS").map(PathBuf::from)),
        }
    }
}

/// Installs with ours, with v0 where that is asked for, and with neither.
pub(super) async fn run(arguments: &Arguments, with_v0: bool, binaries: &Path) -> Result<()> {
    let content = arguments.content()?;
    content.announce();
    let ours = play(arguments, &Implementation::Ours, &content, binaries).await?;
    let v0 = match with_v0 {
        true => {
            let v0 = Implementation::V0(OlmV0::ensure(&Progress::to_stderr())?);
            Some(play(arguments, &v0, &content, binaries).await?)
        }
        false => None,
    };
    let floor = floor::median(&ours.left, binaries).await?;
    print!("{}{}", report::tally(&ours), ours.passes.table());
    let rows = report::rows(&ours, v0.as_ref(), &floor);
    print!("{}", report::table(&rows, content.is_real()));
    ensure!(!content.is_real() || report::is_within(&rows), "a figure is above what is wanted");
    Ok(())
}

/// Installs with ours, and then writes the same objects with a plain client.
pub(super) async fn run_floor(arguments: &Arguments, binaries: &Path) -> Result<()> {
    let content = arguments.content()?;
    content.announce();
    let ours = play(arguments, &Implementation::Ours, &content, binaries).await?;
    floor::median(&ours.left, binaries).await.map(drop)
}

async fn play(
    arguments: &Arguments,
    implementation: &Implementation,
    content: &Content,
    binaries: &Path,
) -> Result<Played> {
    let rest = WaitTimes::of(arguments.silence);
    play::play(implementation, content, (binaries, arguments.logs.as_deref()), rest).await
}
