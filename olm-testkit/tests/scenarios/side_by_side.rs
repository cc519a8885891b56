//! Two OLM operators in one cluster, each with namespaces of its own: both do their work, and
//! neither writes where the other one does. What they count is theirs, also after a restart.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::Client;
use kube::api::{Api, DeleteParams, PostParams};
use olm_testkit::audit::AuditLog;
use olm_testkit::builders::csv;
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture::{self, Fixture};
use olm_testkit::operators::{Admin, Operator, StartOptions};
use olm_testkit::process::Running;
use olm_testkit::wait::{self, TIMEOUT};
use olm_types::api::{ClusterServiceVersion, CsvPhase};

use crate::environment;

/// Who looks after which namespaces.
const LEFT: [&str; 2] = ["left-a", "left-b"];
const RIGHT: [&str; 2] = ["right-a", "right-b"];

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(3);

/// One operator writes only where it is configured to look, and so does the other.
pub async fn no_foreign_writes(_: Arc<TestContext>) -> Result<()> {
    let fixture = environment::cluster("side-by-side").await?;
    let client = fixture.client.clone();
    for namespace in LEFT.iter().chain(&RIGHT) {
        fill(&client, namespace).await?;
    }
    let (mut left, admin) = start(&fixture, "left", &LEFT).await?;
    let mut audit = fixture.audit();
    let wrote = until_idle(&client, &mut audit, &LEFT).await?;
    ensure!(wrote.is_disjoint(&names(&RIGHT)), "the left one wrote in {wrote:?}");
    counts(admin, &LEFT, &RIGHT).await?;
    // With both at work, nothing of what the left one has written is written again.
    let (mut right, other) = start(&fixture, "right", &RIGHT).await?;
    let wrote = until_idle(&client, &mut audit, &RIGHT).await?;
    ensure!(wrote.is_disjoint(&names(&LEFT)), "the right one wrote in {wrote:?}");
    counts(other, &RIGHT, &LEFT).await?;
    left.check()?;
    right.check()?;
    left.kill();
    let (mut left, admin) = start(&fixture, "left-again", &LEFT).await?;
    admin.until_ready().await?;
    counts(admin, &LEFT, &RIGHT).await?;
    forgets(&client, admin).await?;
    left.check()?;
    left.stop();
    right.stop();
    fixture.end().await
}

async fn start(fixture: &Fixture, name: &str, namespaces: &[&str]) -> Result<(Running, Admin)> {
    let args = vec![format!("--watchedNamespaces={}", namespaces.join(","))];
    let special =
        StartOptions { log: format!("olm-operator-{name}"), args, ..StartOptions::default() };
    fixture.binaries.operator(Operator::Olm, &fixture.kubeconfig, special).await
}

async fn fill(client: &Client, namespace: &str) -> Result<()> {
    fixture::namespace(client, namespace).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
    let csv = csv(&csv_in(namespace), "1.0.0").deployment("twin", "default").build();
    csvs.create(&PostParams::default(), &csv).await.context("the API server refuses the CSV")?;
    Ok(())
}

fn csv_in(namespace: &str) -> String {
    format!("twin-{namespace}.v1.0.0")
}

fn names(namespaces: &[&str]) -> BTreeSet<String> {
    namespaces.iter().map(|name| (*name).to_owned()).collect()
}

/// Waits until the CSVs of these namespaces have succeeded and nothing is written any more; where
/// was written since the last call.
async fn until_idle(
    client: &Client,
    audit: &mut AuditLog,
    namespaces: &[&str],
) -> Result<BTreeSet<String>> {
    for namespace in namespaces {
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
        let succeeded = |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        wait::until(&csvs, &csv_in(namespace), "succeed", succeeded).await?;
    }
    let writes = audit.until_idle(&[Operator::Olm.name()], QUIET, TIMEOUT).await?;
    Ok(writes.into_iter().map(|write| where_written(&write)).collect())
}

/// The namespace of a write; an object of the whole cluster that is named after one counts for it.
fn where_written(write: &olm_testkit::audit::Write) -> String {
    let named = LEFT.iter().chain(&RIGHT).find(|name| write.object.ends_with(**name));
    match write.namespace.as_str() {
        "" => named.map(|name| (*name).to_owned()).unwrap_or_default(),
        namespace => namespace.to_owned(),
    }
}

/// An operator counts its own CSVs and no other.
async fn counts(admin: Admin, own: &[&str], foreign: &[&str]) -> Result<()> {
    let text = admin.metrics().await?;
    for namespace in own {
        let name = csv_in(namespace);
        let line = format!(
            "csv_succeeded{{name=\"{name}\",namespace=\"{namespace}\",version=\"1.0.0\"}} 1"
        );
        ensure!(text.contains(&line), "{line} is missing in:\n{text}");
    }
    let foreign = foreign.iter().find(|namespace| text.contains(&csv_in(namespace)));
    ensure!(foreign.is_none(), "{foreign:?} is counted");
    ensure!(text.contains("\ncsv_count 2\n"), "not two CSVs are counted:\n{text}");
    Ok(())
}

/// What is deleted right after a start is not counted any more.
async fn forgets(client: &Client, admin: Admin) -> Result<()> {
    let [namespace, _] = LEFT;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
    csvs.delete(&csv_in(namespace), &DeleteParams::default()).await?;
    wait::until_gone(&csvs, &csv_in(namespace)).await?;
    let is_forgotten = |text: &str| !text.contains(&csv_in(namespace));
    admin.until_metrics("forget a CSV that is gone", is_forgotten).await.map(drop)
}
