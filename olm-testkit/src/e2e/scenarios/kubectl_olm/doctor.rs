//! The doctor finds one thing after the other, and what it prints repairs each.

use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use olm_types::api::Subscription;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use super::program::Program;
use super::{NEW, OLD, subscribe, waiting_plan};
use crate::e2e::TestContext;
use crate::e2e::context::conditions;
use crate::kubectl::Kubectl;
use crate::wait::{self, TIMEOUT};

/// How often the doctor is asked while OLM is at work.
const ASK: std::time::Duration = std::time::Duration::from_millis(250);

/// Without an OperatorGroup there is one finding. Its fix, run by a shell as it is printed, leads to the
/// next one: a plan that waits. Both approvals later nothing is found, and the exit code says so. `--wait` ends then, or
/// when its time is over.
pub(super) async fn finds_and_repairs(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let explained = program.prints(&["explain", "olm002"]).await?;
    ensure!(explained.starts_with("OLM002 no OperatorGroup"), "{explained}");

    subscribe(&ctx).await?;
    wait::until(&ctx.api(), "kettle", "have been looked at", |one: &Subscription| {
        !conditions(one).is_empty()
    })
    .await?;
    let missing = finds(&program, &["OLM002"]).await?;
    let ended = program.run(&["doctor", "--detailed-exitcode"]).await?;
    ensure!(ended.code == Some(2) && ended.printed.contains("1 finding"), "{ended:?}");
    let late = program.run(&["doctor", "--wait", "--timeout", "1s"]).await?;
    ensure!(late.code == Some(4) && late.printed.contains("OLM002"), "{late:?}");
    ctx.conclude_done_plans().await?;
    as_printed(&program, &missing[0]).await?;

    let first = waiting_plan(&ctx, "kettle").await?;
    ensure!(first.spec.cluster_service_version_names == [OLD], "{:?}", first.spec);
    let waits = finds(&program, &["OLM013"]).await?;
    as_printed(&program, &waits[0]).await?;
    ctx.succeeded(OLD).await?;
    let next = finds(&program, &["OLM013"]).await?;
    let waits = program.start(&["doctor", "--wait"])?;
    as_printed(&program, &next[0]).await?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    finds(&program, &[]).await?;
    let waited = timeout(TIMEOUT, waits.wait_with_output()).await;
    let waited = waited.context("doctor --wait does not end")??;
    ensure!(waited.status.code() == Some(0), "{waited:?}");
    let ended = program.run(&["doctor", "--detailed-exitcode"]).await?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let junit = program.prints(&["doctor", "-o", "junit"]).await?;
    ensure!(junit.contains("failures=\"0\" skipped=\"0\""), "{junit}");
    Ok(())
}

/// Waits until exactly these codes are found, and nothing was skipped.
async fn finds(program: &Program, expected: &[&str]) -> Result<Vec<Value>> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let report = program.json(&["doctor"]).await?;
        let findings = report["findings"].as_array().context("it reports no findings")?;
        let codes: Vec<&str> = findings.iter().filter_map(|one| one["code"].as_str()).collect();
        if codes == expected && report["skipped"] == json!([]) {
            return Ok(findings.clone());
        }
        ensure!(Instant::now() < deadline, "expected {expected:?}: {report:#}");
        sleep(ASK).await;
    }
}

/// Runs a fix by a shell. Its `kubectl olm` is the program, as kubectl makes it of the name.
async fn as_printed(program: &Program, finding: &Value) -> Result<()> {
    let fix = finding["fix"].as_str().context("the finding has no fix")?;
    let kubectl = Kubectl::of(program.kubeconfig())?;
    let folders = [program.folder()?, kubectl.folder()?];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folders.into_iter().map(ToOwned::to_owned).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).context("PATH is malformed")?;
    let mut shell = Command::new("sh");
    shell.args(["-c", fix]).env("PATH", path).env("KUBECONFIG", program.kubeconfig());
    let output = shell.stdin(Stdio::null()).output().await.context("cannot run a shell")?;
    ensure!(output.status.success(), "{fix}\n{output:?}");
    Ok(())
}
