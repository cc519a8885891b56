//! `cargo xtask bench plan`: how soon `kubectl olm` says what would happen in a namespace with thirty Subscriptions.
//!
//! No cluster is asked. Each figure is that of the whole program: it starts, reads the catalogs from their folders,
//! resolves all Subscriptions, and prints. `why` reads no manifests and makes no plan, so it is a resolution; `plan`
//! compares with what is there, too.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scale::table::{Table, percentile};

/// Subscriptions of the namespace.
const SUBSCRIPTIONS: usize = 30;

/// Most of each figure, in seconds.
const RESOLUTION: f64 = 1.0;
const PLAN: f64 = 2.0;

/// How often each is measured; the figure is the median.
const TIMES: usize = 5;

/// The Kubernetes that operators are compared with.
const KUBERNETES: &str = "1.34";

/// The program, with catalogs and Subscriptions.
struct PlanBench<'a> {
    program: PathBuf,
    catalogs: &'a [PathBuf],
    files: TempDir,
}

/// Measures the program of a folder with catalogs.
pub(super) fn run(catalogs: &[PathBuf], programs: &Path) -> Result<Table> {
    let program = programs.join("kubectl-olm");
    let files = tempfile::tempdir().context("no folder for the Subscriptions")?;
    let bench = PlanBench { program, catalogs, files };
    let packages = bench.packages()?;
    let (subscribed, others) = packages
        .split_at_checked(SUBSCRIPTIONS)
        .with_context(|| format!("the catalogs have fewer than {SUBSCRIPTIONS} packages"))?;
    bench.subscribe(subscribed)?;
    let planned = bench.planned(others)?;
    let first = subscribed.first().context("there is no package")?;
    let mut table = Table::default();
    table.free("packages of the catalogs", packages.len().to_string());
    let why = bench.seconds(&["why", name(first)])?;
    table.bounded("resolution of 30 Subscriptions", why, RESOLUTION, "s");
    let plan = bench.seconds(&planned.iter().map(String::as_str).collect::<Vec<_>>())?;
    table.bounded(&planned.join(" "), plan, PLAN, "s");
    Ok(table)
}

impl PlanBench<'_> {
    /// All packages, those of different catalogs in turn.
    fn packages(&self) -> Result<Vec<Value>> {
        let output = self.output(&["search", "-o", "json"])?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: Value =
            serde_json::from_slice(&output.stdout).context("search prints no JSON")?;
        let rows = found["items"].as_array().context("search finds no packages")?;
        let mut numbered: Vec<(usize, &Value)> = rows
            .iter()
            .enumerate()
            .map(|(place, row)| {
                let earlier = rows.iter().take(place);
                (earlier.filter(|one| one["catalog"] == row["catalog"]).count(), row)
            })
            .collect();
        numbered.sort_by_key(|(number, _)| *number);
        Ok(numbered.into_iter().map(|(_, row)| row.clone()).collect())
    }

    /// Writes a Subscription for each package into the state.
    fn subscribe(&self, packages: &[Value]) -> Result<()> {
        let subscriptions: Vec<Value> = packages.iter().map(subscription).collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": subscriptions});
        std::fs::write(self.state(), list.to_string()).context("cannot write the Subscriptions")
    }

    fn state(&self) -> PathBuf {
        self.files.path().join("state.json")
    }

    /// A plan of which everything is known and nothing fails: that of the first package for which there is one.
    fn planned(&self, packages: &[Value]) -> Result<Vec<String>> {
        for package in packages {
            let source = package["catalog"].as_str().unwrap_or_default();
            let words = ["plan", "install", name(package), "--source", source];
            let words = [&words[..], &["--kube-version", KUBERNETES]].concat();
            if self.output(&words)?.status.success() {
                return Ok(words.into_iter().map(str::to_owned).collect());
            }
        }
        bail!("no package of the catalogs can be installed with what is in the folders")
    }

    /// The median time of a command that succeeds, in seconds.
    fn seconds(&self, words: &[&str]) -> Result<f64> {
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..TIMES {
            let begun = Instant::now();
            let output = self.output(words)?;
            times.push(begun.elapsed());
            let errors = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "{words:?}: {errors}");
        }
        times.sort();
        Ok(percentile(&times, 50).as_secs_f64())
    }

    fn output(&self, words: &[&str]) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(words).args(["--offline", "--namespace", "bench", "--cache-dir", ""]);
        for (number, catalog) in (1..).zip(self.catalogs) {
            command.arg("--catalog").arg(format!("olm/catalog-{number}={}", catalog.display()));
        }
        let state = self.state();
        if state.exists() {
            command.arg("--state").arg(state);
        }
        command.output().with_context(|| format!("cannot run {}", self.program.display()))
    }
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// A Subscription whose plans wait, so that none is executed before the next is looked at.
fn subscription(package: &Value) -> Value {
    let catalog = package["catalog"].as_str().unwrap_or_default();
    let (namespace, source) = catalog.split_once('/').unwrap_or_default();
    json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
        "metadata": {"name": name(package), "namespace": "bench", "uid": name(package)},
        "spec": {"name": name(package), "source": source, "sourceNamespace": namespace,
            "installPlanApproval": "Manual"}})
}
