//! The program, and what it finds.

use std::collections::BTreeSet;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{Duration, Instant, sleep};

use super::PreparedCase;
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;
use crate::kubectl::Kubectl;
use crate::wait::TIMEOUT;

/// How often the doctor is asked while OLM is at work.
const ASK: Duration = Duration::from_millis(500);

/// `kubectl olm doctor -A`.
pub(super) struct Doctor {
    program: Program,
    kubectl: Kubectl,
}

impl Doctor {
    /// The program that was built with what runs it.
    pub(super) async fn new(ctx: &TestContext) -> Result<Self> {
        let program = Program::new(ctx).await?;
        let kubectl = Kubectl::of(program.kubeconfig())?;
        Ok(Self { program, kubectl })
    }

    /// Looks once; with more flags.
    pub(super) async fn report(&self, flags: &[&str]) -> Result<Value> {
        let mut arguments = vec!["doctor", "-A"];
        arguments.extend(flags);
        self.program.json(&arguments).await
    }

    /// Waits until each case is found exactly once, with what is found beside it, and nothing else is.
    pub(super) async fn finds(&self, made: &[PreparedCase<'_>]) -> Result<()> {
        let wanted: BTreeSet<(String, String)> = made
            .iter()
            .flat_map(|(case, ctx)| {
                let codes = case.beside.iter().chain([&case.code]);
                codes.map(|code| (ctx.namespace.clone(), (*code).to_owned()))
            })
            .collect();
        self.compares(made, &wanted).await
    }

    /// Waits until no case is found that its command ends, and nothing else is but what it leaves.
    pub(super) async fn finds_nothing_of(&self, made: &[PreparedCase<'_>]) -> Result<()> {
        let wanted: BTreeSet<(String, String)> = made
            .iter()
            .flat_map(|(case, ctx)| {
                let stays = !matches!(case.ends, super::FindingOutcome::Repaired);
                let own = [&case.code].into_iter().filter(move |_| stays);
                let codes = case.leaves.iter().chain(own);
                codes.map(|code| (ctx.namespace.clone(), (*code).to_owned()))
            })
            .collect();
        self.compares(made, &wanted).await
    }

    /// Waits until each of these codes is found once in its namespace.
    pub(super) async fn until(&self, flags: &[&str], wanted: &[(&str, &str)]) -> Result<Value> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let report = self.report(flags).await?;
            if wanted.iter().all(|(code, home)| count(&report, code, home) == 1) {
                return Ok(report);
            }
            ensure!(Instant::now() < deadline, "not each of {wanted:?} is found once: {report:#}");
            sleep(ASK).await;
        }
    }

    /// The finding of a code in a namespace.
    pub(super) async fn finding(&self, flags: &[&str], code: &str, home: &str) -> Result<Value> {
        let report = self.report(flags).await?;
        let findings = report["findings"].as_array().context("it reports no findings")?;
        let found = findings.iter().find(|one| one["code"] == code && is_of(one, home));
        found.cloned().with_context(|| format!("{code} is not found in {home}: {report:#}"))
    }

    /// Runs a fix by a shell. Its `kubectl olm` is the program, as kubectl makes it of the name.
    pub(super) async fn as_printed(&self, fix: &str) -> Result<()> {
        let folders = [self.program.folder()?, self.kubectl.folder()?];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders =
            folders.into_iter().map(ToOwned::to_owned).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).context("PATH is malformed")?;
        let mut shell = Command::new("sh");
        shell.args(["-c", fix]).env("PATH", path).env("KUBECONFIG", self.program.kubeconfig());
        let output = shell.stdin(Stdio::null()).output().await.context("cannot run a shell")?;
        ensure!(output.status.success(), "{fix}\n{output:?}");
        Ok(())
    }

    async fn compares(
        &self,
        made: &[PreparedCase<'_>],
        wanted: &BTreeSet<(String, String)>,
    ) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let report = self.report(&[]).await?;
            let Some(why) = difference(&report, made, wanted)? else { return Ok(()) };
            ensure!(Instant::now() < deadline, "{why}\n{report:#}");
            sleep(ASK).await;
        }
    }
}

/// How often a code is found in a namespace.
pub(super) fn count(report: &Value, code: &str, home: &str) -> usize {
    let findings = report["findings"].as_array().into_iter().flatten();
    findings.filter(|one| one["code"] == code && is_of(one, home)).count()
}

/// How a report differs from what is wanted; nothing where it does not.
fn difference(
    report: &Value,
    made: &[PreparedCase<'_>],
    wanted: &BTreeSet<(String, String)>,
) -> Result<Option<String>> {
    if report["skipped"] != json!([]) {
        return Ok(Some(format!("skipped: {}", report["skipped"])));
    }
    let Some(findings) = report["findings"].as_array() else { bail!("it reports no findings") };
    let mut found = BTreeSet::new();
    for one in findings {
        let home = made.iter().map(|(_, ctx)| &ctx.namespace).find(|home| is_of(one, home));
        let code = one["code"].as_str().unwrap_or_default().to_owned();
        let Some(home) = home else { return Ok(Some(format!("in no case: {one}"))) };
        if !found.insert((home.clone(), code)) {
            return Ok(Some(format!("found twice: {one}")));
        }
    }
    let texts = |all: Vec<&(String, String)>| {
        all.iter().map(|(home, code)| format!("{home} {code}")).collect::<Vec<_>>().join(", ")
    };
    let (missing, more) =
        (wanted.difference(&found).collect::<Vec<_>>(), found.difference(wanted).collect());
    let more: Vec<&(String, String)> = more;
    if missing.is_empty() && more.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!("not found: {}; found as well: {}", texts(missing), texts(more))))
}

/// Whether a finding is about a namespace, or about an object of the cluster that is named after it.
fn is_of(finding: &Value, home: &str) -> bool {
    let name = finding["name"].as_str().unwrap_or_default();
    finding["namespace"] == home || name == home || name.contains(&format!(".{home}."))
}
