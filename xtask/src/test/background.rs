//! A developer command that runs while other stages do.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};

use super::programs::{Counts, developer_command};
use super::summary::Summary;
use crate::workspace::target;

/// A command under way. Its output goes into a file, as a full pipe would stop it, and is
/// printed when it is over.
#[derive(Debug)]
pub(super) struct BackgroundCommand {
    arguments: String,
    child: Child,
    output: PathBuf,
}

impl BackgroundCommand {
    /// Starts `cargo xtask` with these arguments.
    ///
    /// # Errors
    /// It cannot be run, or its output has no place below the target folder.
    pub(super) fn begin(arguments: &[&str]) -> Result<Self> {
        let name = arguments.first().copied().unwrap_or_default();
        let output = target().join(format!("beside-{name}.log"));
        let file =
            File::create(&output).with_context(|| format!("cannot write {}", output.display()))?;
        let errors = file.try_clone().context("cannot share a file")?;
        let mut command = developer_command(arguments);
        command.stdin(Stdio::piped()).stdout(file).stderr(errors);
        let child = command.spawn().context("cannot run a developer command")?;
        Ok(Self { arguments: arguments.join(" "), child, output })
    }

    /// Ends its input, which lets it begin what a busy machine disturbs.
    pub(super) fn end_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for its end, and prints what it has printed.
    ///
    /// # Errors
    /// It has failed.
    pub(super) fn finish(self) -> Result<()> {
        let (_, is_good, arguments) = self.end()?;
        ensure!(is_good, "cargo xtask {arguments} failed");
        Ok(())
    }

    /// Waits for its end, prints what it has printed, and adds what it says that it has played.
    ///
    /// # Errors
    /// It has failed without a count of what failed.
    pub(super) fn finish_counted(self, summary: &mut Summary) -> Result<()> {
        let (printed, is_good, arguments) = self.end()?;
        let mut counts = Counts::default();
        printed.lines().for_each(|line| counts.read(line));
        counts.add(&arguments, is_good, summary)
    }

    fn end(mut self) -> Result<(String, bool, String)> {
        self.end_input();
        let status = self.child.wait().context("cannot wait for a command")?;
        let printed = fs::read(&self.output)
            .with_context(|| format!("cannot read {}", self.output.display()))?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        println!("\ncargo xtask {}\n{printed}", self.arguments);
        Ok((printed, status.success(), self.arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_has_played_is_counted() {
        let mut counts = Counts::default();
        let lines = ["skipped: smoke::one: no containers", "2 passed, 1 failed, 1 skipped"];
        lines.into_iter().for_each(|line| counts.read(line));
        let mut summary = Summary::default();
        counts.add("e2e", false, &mut summary).unwrap();
        assert_eq!(summary.not_good(), 2);
    }

    #[test]
    fn a_command_without_a_count_has_failed() {
        let mut summary = Summary::default();
        let refused = Counts::default().add("e2e", true, &mut summary).unwrap_err();
        assert_eq!(refused.to_string(), "cargo xtask e2e counted nothing");
    }
}
