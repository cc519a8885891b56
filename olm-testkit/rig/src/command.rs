//! Short commands of the system, run to their end.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a command; a failure shows what it said.
pub(super) fn run(words: &[&str]) -> Result<()> {
    let (program, args) = words.split_first().context("an empty command")?;
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed with {}: {}", words.join(" "), output.status, said.trim());
    }
    Ok(())
}

/// Whether a command can be run and succeeds.
pub(super) fn succeeds(words: &[&str]) -> bool {
    run(words).is_ok()
}
