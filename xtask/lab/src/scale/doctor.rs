//! `cargo xtask scale doctor`: `kubectl olm doctor -A` in a cluster with many namespaces.
//!
//! Each namespace has an OperatorGroup and a Subscription, and what both operators make of it. What is
//! measured: how long the program takes, how much memory, and that it finds nothing; then the same with
//! a share of the namespaces unhealthy, of which it has to read more.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use kube::api::{Api, DeleteParams};
use olm_testkit::builders::{self, Crd, csv};
use olm_testkit::operators::{Binaries, OLM_NAMESPACE};
use olm_types::api::OperatorGroup;
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::measures::time_limit;
use super::namespaces::Namespaces;
use super::published::{Catalog, Published};
use super::setup::Setup;
use super::succeeded::until_succeeded;
use super::table::Table;

/// Arguments of the subject.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How many namespaces, each with an operator
    #[arg(long, default_value_t = 1000)]
    namespaces: usize,
    /// How many of them are unhealthy, in the second measurement
    #[arg(long, default_value_t = 100)]
    unhealthy: usize,
}

/// Seconds that a look at all namespaces may take.
const TIME: f64 = 5.0;

/// Megabytes that it may hold.
const MEMORY: f64 = 60.0;

/// What an install may take before it counts as stuck.
const SHARE: Duration = Duration::from_secs(3);

/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// Bytes of prose in the CSV; real ones have several thousand.
const PROSE: usize = 16 * 1024;

/// The CSV of every namespace.
const CSV: &str = "tool.v1.0.0";

/// Fills the cluster and measures.
pub(super) async fn measure(arguments: &Arguments, setup: &mut Setup) -> Result<Table> {
    let namespaces = Namespaces::new(setup, arguments.namespaces);
    let programs = setup.serve_packages().await?;
    let (binaries, kubeconfig) = programs.context("the doctor is measured in a cluster of ours")?;
    let catalog = published().put(setup, OLM_NAMESPACE, "doctor").await?;
    install(arguments, &namespaces, &catalog).await?;
    let mut table = Table::default();
    let doctor = Doctor { binaries, kubeconfig };
    let time_limit = time_limit(SHARE, arguments.namespaces);
    doctor.until_found(0, time_limit).await?;
    doctor.measure("healthy", 0, &mut table).await?;
    for name in namespaces.names().iter().take(arguments.unhealthy) {
        let groups: Api<OperatorGroup> = Api::namespaced(setup.client.clone(), name);
        groups.delete("group", &DeleteParams::default()).await?;
    }
    doctor.until_found(arguments.unhealthy, time_limit).await?;
    let unhealthy = format!("{} unhealthy", arguments.unhealthy);
    doctor.measure(&unhealthy, arguments.unhealthy, &mut table).await?;
    Ok(table)
}

/// The program, and the cluster that it looks at.
struct Doctor {
    binaries: Binaries,
    kubeconfig: PathBuf,
}

impl Doctor {
    async fn measure(&self, what: &str, findings: usize, table: &mut Table) -> Result<()> {
        let (report, took, memory) = self.look().await?;
        ensure!(count(&report) == findings, "{} findings: {report:#}", count(&report));
        ensure!(report["skipped"] == json!([]), "skipped: {}", report["skipped"]);
        table.bounded(&format!("doctor -A, {what}"), took.as_secs_f64(), TIME, "s");
        table.bounded(&format!("memory of it, {what}"), memory, MEMORY, "MB");
        Ok(())
    }

    async fn until_found(&self, findings: usize, time_limit: Duration) -> Result<()> {
        let deadline = Instant::now() + time_limit;
        while count(&self.look().await?.0) != findings {
            ensure!(Instant::now() < deadline, "not {findings} are found");
        }
        Ok(())
    }

    /// What it finds, how long that took, and its most resident memory in megabytes.
    async fn look(&self) -> Result<(Value, Duration, f64)> {
        let mut command = Command::new(self.binaries.program("kubectl-olm"));
        command.arg("--kubeconfig").arg(&self.kubeconfig).args(["doctor", "-A", "-o", "json"]);
        let started = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let child = child.context("cannot run kubectl-olm")?;
        let peak = tokio::spawn(peak(child.id().unwrap_or_default()));
        let output = output(child).await?;
        let (took, peak) = (started.elapsed(), peak.await?);
        Ok((serde_json::from_slice(&output)?, took, peak))
    }
}

async fn output(child: Child) -> Result<Vec<u8>> {
    let output = child.wait_with_output().await.context("kubectl-olm does not end")?;
    ensure!(output.status.success(), "kubectl-olm ended with {}", output.status);
    Ok(output.stdout)
}

/// The most resident memory of a process until it ends, in megabytes.
async fn peak(pid: u32) -> f64 {
    let mut most = 0.0_f64;
    while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        let Some(kilobytes) = kilobytes else { break };
        let kilobytes: f64 = kilobytes;
        most = most.max(kilobytes * 1024.0 / 1e6);
        sleep(LOOK).await;
    }
    most
}

fn count(report: &Value) -> usize {
    report["findings"].as_array().map_or(0, Vec::len)
}

async fn install(arguments: &Arguments, namespaces: &Namespaces, catalog: &Catalog) -> Result<()> {
    let group = |name: &str| builders::operator_group(name, "group", &[name]);
    namespaces.fill(|home| async move { home.create(&group(&home.name)).await }).await?;
    namespaces
        .each(|home| async move { home.create(&catalog.subscription(&home.name)).await })
        .await?;
    until_succeeded(namespaces, CSV, time_limit(SHARE, arguments.namespaces)).await
}

fn published() -> Published {
    let kind = Crd::new("scale.example.com", "v1", "Tool");
    let csv = csv(CSV, "1.0.0")
        .owns(&kind)
        .deployment("tool", "default")
        .description("A tool works. ".repeat(PROSE / 14));
    Published { package: "tool", csv, crds: vec![kind.manifest()] }
}
