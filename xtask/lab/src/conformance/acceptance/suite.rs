//! The suite as a process: what it is started with, and what it says while it plays.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::peer::AcceptanceSuite;
use olm_testkit::process::tail;
use olm_testkit::progress::Progress;

use super::expected::NOT_RUN;
use super::report::Report;

/// Where specs work that make no namespace of their own; `deploy/` has an OperatorGroup there.
const NAMESPACE: &str = "operators";

/// Longer than all specs take one after the other on a loaded machine.
const TIMEOUT: &str = "--ginkgo.timeout=6h";

/// How many specs end between two lines of progress.
const STEP: usize = 5;

/// Characters that mean something in Go's regular expressions.
const SPECIAL: &str = r"\.+*?()|[]{}^$";

/// The suite on a cluster.
pub(super) struct Run<'a> {
    /// The programs.
    pub suite: &'a AcceptanceSuite,
    /// The cluster.
    pub kubeconfig: &'a Path,
    /// Where log and report go.
    pub folder: &'a Path,
}

impl Run<'_> {
    /// Plays the specs, all of them or those in focus.
    ///
    /// # Errors
    ///
    /// The program cannot be run, or ends without a report.
    pub(super) fn play(&self, focus: Option<&str>, progress: &Progress) -> Result<Report> {
        let (log, report) = (self.folder.join("log"), self.folder.join("report.json"));
        if report.exists() {
            fs::remove_file(&report).context("cannot remove the report of an earlier run")?;
        }
        progress.step(format!("the suite's log is {}", log.display()));
        let mut child = self.command(focus, &report).spawn().context("cannot run the suite")?;
        follow(&mut child, &log, progress)?;
        child.wait().context("cannot wait for the suite")?;
        if !report.exists() {
            bail!("the suite has written no report; its log ends with\n{}", tail(&log, 20));
        }
        Report::read(&report)
    }

    fn command(&self, focus: Option<&str>, report: &Path) -> Command {
        let mut command = Command::new(self.suite.program());
        command.current_dir(self.folder).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        // With it, the suite would start a script that is not there.
        command.env_remove("ARTIFACT_DIR");
        command.arg("-kubeconfig").arg(self.kubeconfig);
        command.arg("-test-data-dir").arg(self.suite.test_data());
        command.args(["-namespace", NAMESPACE]);
        command.args(["-olmNamespace", OLM_NAMESPACE, "-catalogNamespace", OLM_NAMESPACE]);
        command.args(["--ginkgo.v", "--ginkgo.no-color", TIMEOUT]);
        command.arg(format!("--ginkgo.json-report={}", report.display()));
        command.args(NOT_RUN.iter().map(|(name, _)| format!("--ginkgo.skip={}", literally(name))));
        command.args(focus.map(|text| format!("--ginkgo.focus={text}")));
        command
    }
}

/// Copies what the suite says into its log, and counts the specs that end.
fn follow(child: &mut Child, log: &Path, progress: &Progress) -> Result<()> {
    let output = child.stdout.take().context("the suite says nothing")?;
    let mut file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut ended = 0;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read what the suite says")?;
        file.write_all(&line).and_then(|()| file.write_all(b"\n")).context("cannot write a log")?;
        let text = String::from_utf8_lossy(&line);
        if text.starts_with('•') {
            ended += 1;
            if ended % STEP == 0 {
                progress.step(format!("{ended} specs have ended"));
            }
        }
        if text.contains("[FAILED] in [") {
            progress.step(text.trim());
        }
    }
    Ok(())
}

/// A regular expression that finds exactly this text.
fn literally(text: &str) -> String {
    let escaped = text.chars().map(|letter| match SPECIAL.contains(letter) {
        true => format!("\\{letter}"),
        false => letter.to_string(),
    });
    escaped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_as_they_are() {
        assert_eq!(literally("a (b) [c] d.e"), r"a \(b\) \[c\] d\.e");
        assert_eq!(literally("plain text"), "plain text");
    }
}
