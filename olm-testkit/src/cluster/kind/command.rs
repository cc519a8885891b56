//! Running the programs that kind consists of.

use std::path::PathBuf;

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
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Where they are looked for, in place of `PATH`.
    pub path: Option<PathBuf>,
}

#[async_trait]
impl Commands for System {
    async fn run(&self, program: &str, args: &[&str]) -> Result<String> {
        let mut command = Command::new(program);
        command.args(args).kill_on_drop(true);
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        let output = command.output().await;
        let output =
            output.with_context(|| format!("cannot start `{program}`: is it installed?"))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            bail!("`{program} {}` failed:\n{}", args.join(" "), complaint.trim_end());
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{program}` printed something that is not text"))
    }
}
