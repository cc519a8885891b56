//! `cargo xtask docs-check`: the commands in `docs/`, run as they stand there.
//!
//! A block of the language `console` holds commands behind `$ ` and what they print, where `…`
//! stands for anything. They run in the order of the page on one local cluster with both operators.
//! A comment before a block says that it is a file (`<!-- file: NAME -->`) or why it cannot run here
//! (`<!-- not run: REASON -->`). Commands have no other form in `docs/`; a test looks after that.

mod page;
mod pattern;
mod play;
#[cfg(test)]
mod reasons;
mod report;
mod setup;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use page::Page;
use report::Outcome;
use setup::Setup;
use xtask::{build::programs, workspace};

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only pages with this in their name
    #[arg(long, value_name = "NAME")]
    focus: Option<String>,
    /// Uses the binaries in this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    binaries: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// A page is malformed, the cluster cannot be used, or a command does not do what its page says.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut pages = page::read_all(&workspace::root().join("docs"))?;
    pages.retain(|page| arguments.focus.as_ref().is_none_or(|name| page.name.contains(name)));
    if pages.iter().all(|page| page.blocks.is_empty()) {
        bail!("no page with commands matches");
    }
    let binaries = match &arguments.binaries {
        Some(dir) => dir.clone(),
        None => programs(false)?,
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let outcomes = runtime.block_on(play_all(&pages, &binaries))?;
    println!("{}", report::summary_line(&outcomes));
    match outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed { .. })) {
        true => bail!("the documentation says something else than what happens"),
        false => Ok(()),
    }
}

/// Each page gets a cluster of its own: a page that takes over or removes OLM disturbs no other.
async fn play_all(pages: &[Page], binaries: &std::path::Path) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for page in pages.iter().filter(|page| !page.blocks.is_empty()) {
        println!("{}", page.name);
        if !page.has_commands() {
            outcomes.extend(page.left_out());
            continue;
        }
        let setup = Setup::set(binaries, page.starts_empty()).await?;
        let played = play::page(page, &setup).await;
        setup.tear_down().await?;
        outcomes.extend(played?);
    }
    outcomes.iter().for_each(report::print);
    Ok(outcomes)
}
