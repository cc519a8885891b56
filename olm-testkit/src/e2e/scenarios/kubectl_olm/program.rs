//! The program `kubectl-olm`, run for a scenario's namespace.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::e2e::TestContext;
use crate::operators::Binaries;
use crate::wait::TIMEOUT;

/// The program with the flags that every run has.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    kubeconfig: PathBuf,
    /// Whether a flag names the kubeconfig; otherwise the environment does.
    is_named: bool,
    namespace: String,
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none after a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) printed: String,
    /// Standard error.
    pub(crate) errors: String,
}

impl Program {
    /// The program that was built with what runs the scenario.
    pub(crate) async fn new(ctx: &TestContext) -> Result<Self> {
        let kubeconfig = ctx.kubeconfig().await?;
        let path = Binaries::beside_this_executable(&std::env::temp_dir())?.program("kubectl-olm");
        ensure!(path.is_file(), "{} is not built", path.display());
        Ok(Self { path, kubeconfig, is_named: true, namespace: ctx.namespace.clone() })
    }

    /// The same with the kubeconfig in the environment, as most users have it: no command on a page names its path.
    pub(crate) fn by_environment(self) -> Self {
        Self { is_named: false, ..self }
    }

    /// The kubeconfig that every run is given.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The folder that the program is in.
    pub(crate) fn folder(&self) -> Result<&Path> {
        self.path.parent().context("the program has no folder")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        match self.is_named {
            true => command.arg("--kubeconfig").arg(&self.kubeconfig),
            false => command.env("KUBECONFIG", &self.kubeconfig),
        };
        command.args(["-n", &self.namespace]).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        command
    }

    /// Starts a command that goes on until it is dropped.
    pub(crate) fn start(&self, args: &[&str]) -> Result<Child> {
        self.command(args).spawn().with_context(|| format!("cannot run {}", self.path.display()))
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, args: &[&str]) -> Result<Ended> {
        self.end(self.command(args), args).await
    }

    /// The same for a user whose home is this folder, and who has configured no other places.
    pub(crate) async fn run_at_home(&self, home: &Path, args: &[&str]) -> Result<Ended> {
        let mut command = self.command(args);
        command.env("HOME", home).env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
        self.end(command, args).await
    }

    async fn end(&self, mut command: Command, args: &[&str]) -> Result<Ended> {
        let output = timeout(TIMEOUT, command.output()).await;
        let output = output.with_context(|| format!("{args:?} does not end"))?;
        let output = output.with_context(|| format!("cannot run {}", self.path.display()))?;
        Ok(Ended {
            code: output.status.code(),
            printed: String::from_utf8(output.stdout).context("it prints no text")?,
            errors: String::from_utf8(output.stderr).context("it complains in no text")?,
        })
    }

    /// What a command prints that succeeds.
    pub(crate) async fn prints(&self, args: &[&str]) -> Result<String> {
        let ended = self.run(args).await?;
        ensure!(ended.code == Some(0), "{args:?}: {ended:?}");
        Ok(ended.printed)
    }

    /// What a command that succeeds prints as JSON, which names its kind.
    pub(crate) async fn json(&self, args: &[&str]) -> Result<Value> {
        let printed = self.prints(&[args, &["-o", "json"]].concat()).await?;
        let value: Value = serde_json::from_str(&printed).context("it prints no JSON")?;
        ensure!(value["apiVersion"] == "kubectl-olm/v1alpha1", "{value}");
        ensure!(value["kind"].is_string(), "{value}");
        Ok(value)
    }

    /// Runs a command whose reader goes at once.
    pub(crate) async fn survives_a_closed_pipe(&self, args: &[&str]) -> Result<()> {
        let mut child = self.command(args).spawn().context("cannot run the program")?;
        drop(child.stdout.take());
        let output = timeout(TIMEOUT, child.wait_with_output()).await.context("it hangs")??;
        let errors = String::from_utf8_lossy(&output.stderr);
        // What takes long is named.
        let complains = errors.lines().any(|line| !line.ends_with('…'));
        ensure!(output.status.code() == Some(0) && !complains, "{output:?}");
        Ok(())
    }
}

impl Ended {
    /// Fails unless the run ended with 1, printed no result, and complained of this.
    pub(crate) fn failed_with(&self, complaint: &str) -> Result<()> {
        ensure!(self.code == Some(1) && self.errors.contains(complaint), "{complaint}: {self:?}");
        Ok(())
    }
}
