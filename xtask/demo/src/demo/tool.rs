//! `kubectl olm`, run as a user runs it.

use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use olm_testkit::operators::OLM_NAMESPACE;
use serde_json::Value;
use tokio::process::Command;
use tokio::signal::ctrl_c;

use super::install::{CATALOG, NAMESPACE};
use super::setup::Setup;
use super::timeline::Timeline;

/// The program, and what its flags are on this cluster.
pub(super) struct Tool<'a> {
    setup: &'a Setup,
    namespace: &'a str,
}

impl<'a> Tool<'a> {
    /// For a namespace.
    pub(super) fn of(setup: &'a Setup, namespace: &'a str) -> Self {
        Self { setup, namespace }
    }

    /// Runs a command; of what it prints those lines are shown that fit.
    pub(super) async fn shown(
        &self,
        timeline: &Timeline,
        words: &[&str],
        fits: impl Fn(&str) -> bool,
    ) -> Result<String> {
        timeline.event("$", format!("kubectl olm {}", words.join(" ")));
        let printed = self.prints(words).await?;
        let mut passed_over = 0;
        for line in printed.lines() {
            match fits(line) {
                true => timeline.detail(line),
                false => passed_over += 1,
            }
        }
        if passed_over > 0 {
            timeline.detail(format!("(and {passed_over} more lines)"));
        }
        Ok(printed)
    }

    /// What a command prints as values.
    pub(super) async fn json(&self, words: &[&str]) -> Result<Value> {
        let printed = self.prints(&[words, &["-o", "json"]].concat()).await?;
        serde_json::from_str(&printed).context("kubectl olm prints no JSON")
    }

    async fn prints(&self, words: &[&str]) -> Result<String> {
        let output = self.command(words)?.kill_on_drop(true).output().await;
        let output = output.context("cannot run kubectl olm")?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("kubectl olm {}: {errors}", words.join(" "));
        }
        String::from_utf8(output.stdout).context("kubectl olm prints no text")
    }

    /// A command with what it is given on this cluster.
    pub(super) fn command(&self, words: &[&str]) -> Result<Command> {
        let mut command = Command::new(self.setup.fixture.binaries.program("kubectl-olm"));
        command.arg("--kubeconfig").arg(&self.setup.fixture.kubeconfig);
        command.args(["-n", self.namespace]).args(words);
        if matches!(words.first(), Some(&("plan" | "console"))) {
            // Its catalog is a process beside the cluster, which nothing in the cluster leads to.
            let address = self.setup.fixture.address()?;
            command.args(["--olm-namespace", OLM_NAMESPACE, "--catalog"]);
            command.arg(format!("{OLM_NAMESPACE}/{CATALOG}={address}"));
        }
        command.stdin(Stdio::null());
        Ok(command)
    }
}

/// Leaves the console open on what the demo has made, until Ctrl-C; the program prints its address itself.
pub(super) async fn stay_open_console(timeline: &Timeline, setup: &Setup) -> Result<()> {
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
