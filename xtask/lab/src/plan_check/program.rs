//! The program `kubectl-olm`, with the flags of the cluster.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use olm_testkit::operators::OLM_NAMESPACE;
use serde_json::Value;
use tokio::process::Command;

/// How to run it.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) kubeconfig: PathBuf,
    /// The flag of the catalog.
    pub(super) catalog: String,
}

impl Program {
    /// A plan as values, and whether it has problems.
    pub(super) async fn plan(&self, home: &str, words: &[&str]) -> Result<Value> {
        let output = self.run(home, &[&["plan"], words, &["-o", "json"]].concat()).await?;
        match serde_json::from_slice(&output.stdout) {
            Ok(plan) => Ok(plan),
            Err(_) => bail!("{words:?}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// Does what was planned.
    pub(super) async fn act(&self, home: &str, words: &[&str]) -> Result<()> {
        let output = self.run(home, &[words, &["--yes", "--timeout", "90s"]].concat()).await?;
        if !output.status.success() {
            bail!("{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    async fn run(&self, home: &str, words: &[&str]) -> Result<std::process::Output> {
        let mut command = Command::new(&self.path);
        command.arg("--kubeconfig").arg(&self.kubeconfig).args(["-n", home, "--cache-dir", ""]);
        command.args(words).args(["--olm-namespace", OLM_NAMESPACE, "--catalog", &self.catalog]);
        command.stdin(Stdio::null()).kill_on_drop(true);
        command.output().await.with_context(|| format!("cannot run {}", self.path.display()))
    }
}
