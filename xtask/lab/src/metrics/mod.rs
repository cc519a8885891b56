//! `cargo xtask metrics`: writes `docs/metrics.md` from what the operators register, or compares it.
//!
//! ```text
//! document    the page, and the families that it lists
//! rules       the alerts of deploy/monitoring, and the queries of its dashboard
//! expression  which metrics a query reads
//! promtool    has Prometheus' own tool evaluate the alerts
//! ```

mod document;
mod expression;
mod promtool;
mod rules;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use olm_testkit::operators::Operator;

use document::Listed;
use xtask::{build::programs, workspace};

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Fails when the committed page is stale, and writes nothing
    #[arg(long)]
    check: bool,
    /// Has promtool evaluate the alerts instead, and installs it when it is missing and root asks
    #[arg(long, conflicts_with = "check")]
    alerts: bool,
}

/// Runs the command.
///
/// # Errors
///
/// As [`page_is_fresh`]; or when `promtool` is not found, or finds an alert wrong.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.alerts {
        return alerts();
    }
    page_is_fresh(arguments.check)
}

/// Evaluates the alerts, and counts that. Where the tool is missing, nothing passes and nothing fails.
fn alerts() -> Result<()> {
    match promtool::prepare() {
        Ok(()) => promtool::run().map(|()| println!("1 passed, 0 failed, 0 skipped")),
        Err(reason) => {
            println!("skipped: the alerts: {reason:#}\n0 passed, 0 failed, 1 skipped");
            Ok(())
        }
    }
}

/// Writes the page; with `check` fails instead when the committed one is another.
///
/// # Errors
///
/// When an operator cannot be built or asked, an alert or the dashboard reads what is not measured,
/// the page cannot be written, or with `check` is stale.
fn page_is_fresh(check: bool) -> Result<()> {
    let text = document::render(&ask_operators()?);
    rules::check(&text)?;
    let path = page();
    let committed = fs::read_to_string(&path).unwrap_or_default();
    match (committed == text, check) {
        (true, _) => Ok(()),
        (false, true) => bail!("{} is stale, run `cargo xtask metrics`", path.display()),
        (false, false) => {
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("wrote {}", path.display());
            Ok(())
        }
    }
}

/// The committed page.
fn page() -> PathBuf {
    workspace::root().join("docs/metrics.md")
}

/// What each operator may measure. Asking is quick; no cluster is needed.
fn ask_operators() -> Result<Vec<Listed>> {
    let folder = programs(false)?;
    Operator::ALL.iter().map(|operator| ask(&folder, *operator)).collect()
}

fn ask(folder: &Path, operator: Operator) -> Result<Listed> {
    let program = folder.join(operator.name());
    let output = Command::new(&program).arg("--list-metrics").output();
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    if !output.status.success() {
        bail!("{operator} --list-metrics: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout).context("an operator printed no text")?;
    Ok(Listed { operator: operator.name(), rows: text.lines().map(str::to_owned).collect() })
}
