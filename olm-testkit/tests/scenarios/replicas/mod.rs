//! Two replicas of each operator: one acts, the other takes over when it ends, however it ends.
//! Nothing is lost and nothing is done twice, and a leader that was deposed writes nothing any more.

mod deposed;
mod hosted;
mod replica;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::audit::AuditLog;
use olm_testkit::builders::csv;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture::{self, Fixture};
use olm_testkit::operators::{Admin, OLM_NAMESPACE, Operator, StartOptions};
use olm_testkit::process::Running;
use olm_testkit::wait::{self, TIMEOUT};
use olm_types::api::{ClusterServiceVersion, CsvPhase};

use crate::{environment, used_permissions};

pub use deposed::deposed;
pub use hosted::hosted;

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(3);

/// A follower does nothing; it takes over from a leader that ends, and from one that is killed.
pub async fn take_over(_: Arc<TestContext>) -> Result<()> {
    let fixture = environment::cluster("replicas").await?;
    let client = fixture.client.clone();
    // A leader renews its Lease all the time.
    let mut audit = fixture.audit().apart_from("leases");

    let (first, admin) = start(&fixture, "first").await?;
    admin.until_ready().await?;
    let holder = leader(&client, Operator::Olm, "").await?;
    install(&client, "one").await?;
    let (mut second, admin) = start(&fixture, "second").await?;
    admin.until_ready().await?;
    let now = leader(&client, Operator::Olm, "").await?;
    ensure!(now == holder, "the second took over from a living leader");
    until_idle(&mut audit).await?;

    first.stop();
    let next = leader(&client, Operator::Olm, &holder).await?;
    nothing_again(&mut audit).await?;
    install(&client, "two").await?;
    until_idle(&mut audit).await?;

    let (mut third, admin) = start(&fixture, "third").await?;
    admin.until_ready().await?;
    second.kill();
    // The Lease of the dead has to run out.
    leader(&client, Operator::Olm, &next).await?;
    nothing_again(&mut audit).await?;
    install(&client, "three").await?;
    third.check()?;
    third.stop();
    used_permissions::note(&fixture.cluster().audit_log())?;
    fixture.end().await
}

/// Starts a replica.
async fn start(fixture: &Fixture, name: &str) -> Result<(Running, Admin)> {
    let (log, args) = (format!("olm-operator-{name}"), vec![LEADER_ELECT.to_owned()]);
    let special = StartOptions { log, args, ..StartOptions::default() };
    fixture.binaries.operator(Operator::Olm, &fixture.kubeconfig, special).await
}

/// Which replica of the operator leads, once it is another than `former`.
async fn leader(client: &Client, operator: Operator, former: &str) -> Result<String> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let is_new = |lease: &Lease| holder(lease).is_some_and(|holder| holder != former);
    let lease = wait::until(&leases, operator.name(), "have a new holder", is_new).await?;
    holder(&lease).context("the lease has no holder")
}

fn holder(lease: &Lease) -> Option<String> {
    let holder = lease.spec.as_ref()?.holder_identity.clone()?;
    (!holder.is_empty()).then_some(holder)
}

/// Puts a CSV into a new namespace and waits until it has succeeded.
async fn install(client: &Client, namespace: &str) -> Result<()> {
    fixture::namespace(client, namespace).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
    let csv = csv("lamp.v1.0.0", "1.0.0").deployment("lamp", "default").build();
    csvs.create(&PostParams::default(), &csv).await.context("the API server refuses the CSV")?;
    let succeeded = |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    };
    wait::until(&csvs, "lamp.v1.0.0", "succeed", succeeded).await.map(drop)
}

/// Waits until nothing is written any more.
async fn until_idle(audit: &mut AuditLog) -> Result<()> {
    audit.until_idle(&[Operator::Olm.name()], QUIET, TIMEOUT).await.map(drop)
}

/// Whoever takes over finds everything done.
async fn nothing_again(audit: &mut AuditLog) -> Result<()> {
    audit.nothing_for(&[Operator::Olm.name()], QUIET).await
}
