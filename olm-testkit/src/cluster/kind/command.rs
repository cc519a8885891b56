//! Running the programs that kind consists of.

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use tokio::process::Command;

/// Whoever runs commands.
#[async_trait]
pub trait Commands: Send + Sync {
    /// Runs a program to its end and returns its standard output.
    ///
    /// # Errors
    ///
    /// When it cannot be started or does not succeed; the message holds what it complained about.
    async fn run(&self, program: &str, args: &[&str]) -> Result<String>;
}

/// The programs of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

#[async_trait]
impl Commands for System {
    async fn run(&self, program: &str, args: &[&str]) -> Result<String> {
        let run = Command::new(program).args(args).kill_on_drop(true).output().await;
        let output = run.with_context(|| format!("cannot start `{program}`: is it installed?"))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            bail!("`{program} {}` failed:\n{}", args.join(" "), complaint.trim_end());
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{program}` printed something that is not text"))
    }
}
