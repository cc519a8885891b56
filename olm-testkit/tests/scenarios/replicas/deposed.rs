//! A leader whose requests are held until long after its Lease has run out: whatever it sent is never
//! carried out, and it has ended before another replica writes.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::audit::Write;
use olm_testkit::builders::{self, csv};
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::TestContext;
use olm_testkit::faults::{Injector, Proxy};
use olm_testkit::fixture::Fixture;
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::process::Running;
use olm_testkit::wait::TIMEOUT;
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, Subscription};
use tokio::time::{Instant, sleep};

use super::leader;
use crate::{environment, readiness};

/// How long requests of the leader are held; its Lease is good for 15 s.
const HOLD: Duration = Duration::from_secs(20);

/// Between two pieces of work, so that some of the requests are sent just before the Lease runs out.
const PACE: Duration = Duration::from_millis(400);

/// How often it is asked what became of the requests.
const ASK: Duration = Duration::from_millis(100);

/// Both operators lose their leaders in the middle of their work, at the same time.
pub async fn deposed(_: Arc<TestContext>) -> Result<()> {
    let fixture = environment::cluster("deposed").await?;
    let client = &fixture.client;
    let mut pairs = Vec::new();
    for operator in Operator::ALL {
        pairs.push(Pair::start(&fixture, operator).await?);
    }
    for pair in &pairs {
        pair.first.proxy.hold(HOLD);
    }
    work_until_deposed(client, &pairs).await?;
    for pair in &mut pairs {
        pair.exit_code = pair.first.running.exit_code()?;
    }
    for pair in &pairs {
        pair.until_nothing_is_held().await?;
        pair.check(&fixture.audit().writes(&[pair.operator.name()])?)?;
        pair.has_ended()?;
    }
    pairs.into_iter().for_each(|pair| pair.second.running.stop());
    readiness::note(&fixture.cluster().audit_log())?;
    fixture.end().await
}

/// Two replicas of an operator, the first of which leads.
struct Pair {
    operator: Operator,
    /// How the Lease names the first.
    holder: String,
    first: Replica,
    second: Replica,
    /// How the first had ended when the second took the Lease; none if it had not.
    exit_code: Option<i32>,
}

/// A replica, and what is between it and the API server.
struct Replica {
    name: String,
    running: Running,
    proxy: Proxy,
}

impl Pair {
    async fn start(fixture: &Fixture, operator: Operator) -> Result<Self> {
        let first = Replica::start(fixture, operator, "first").await?;
        let holder = leader(&fixture.client, operator, "").await?;
        let second = Replica::start(fixture, operator, "second").await?;
        Ok(Self { operator, holder, first, second, exit_code: None })
    }

    /// It ends when its Lease has run out, which is before another one takes it.
    fn has_ended(&self) -> Result<()> {
        let Self { operator, exit_code, .. } = self;
        ensure!(*exit_code == Some(1), "the deposed {operator} went on: {exit_code:?}");
        Ok(())
    }

    /// Waits until all that was held was passed on or given up.
    async fn until_nothing_is_held(&self) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        while self.first.proxy.held_writes().waiting > 0 {
            ensure!(Instant::now() < deadline, "writes of {} are held for ever", self.operator);
            sleep(ASK).await;
        }
        Ok(())
    }

    /// No replica writes before it holds the Lease, and the first nothing after the second did.
    fn check(&self, writes: &[Write]) -> Result<()> {
        let held = self.first.proxy.held_writes();
        let count = held.hung_up + held.passed_on;
        ensure!(count > 0, "the leader of {} sent nothing while it was held", self.operator);
        let [first, second] = [&self.first, &self.second].map(|one| one.writes(writes));
        let taken = second.iter().map(|write| write.received).min().unwrap_or(Timestamp::MAX);
        let late: Vec<String> = first
            .iter()
            .filter(|write| write.done > taken)
            .map(|write| format!("{} {}", write.done, self.first.said(write)))
            .collect();
        ensure!(late.is_empty(), "after {taken}, when it was deposed ({held:?}): {late:#?}");
        for (replica, writes) in [(&self.first, &first), (&self.second, &second)] {
            let begin =
                writes.first().with_context(|| format!("{} wrote nothing", replica.name))?;
            ensure!(
                begin.object.starts_with("leases "),
                "{}: before its Lease",
                replica.said(begin)
            );
        }
        Ok(())
    }
}

impl Replica {
    async fn start(fixture: &Fixture, operator: Operator, name: &str) -> Result<Self> {
        let name = format!("{operator}-{name}");
        let proxy = Proxy::start_as(&fixture.kubeconfig, Injector::new(0), &name).await?;
        let args = vec![LEADER_ELECT.to_owned(), "--tenant-policy=strict".to_owned()];
        let server = Some(proxy.url());
        let special = StartOptions { log: name.clone(), args, server, ..StartOptions::default() };
        let started = fixture.binaries.operator(operator, &fixture.kubeconfig, special);
        let (running, admin) = started.await?;
        admin.until_ready().await?;
        Ok(Self { name, running, proxy })
    }

    /// What it wrote, the oldest first.
    fn writes<'a>(&self, all: &'a [Write]) -> Vec<&'a Write> {
        let own = all.iter().filter(|write| write.agent.ends_with(&format!(" {}", self.name)));
        let mut own: Vec<_> = own.collect();
        own.sort_by_key(|write| write.received);
        own
    }

    fn said(&self, write: &Write) -> String {
        format!("{}: {} {}", self.name, write.verb, write.object)
    }
}

/// Goes on making work until every Lease has another holder.
async fn work_until_deposed(client: &Client, pairs: &[Pair]) -> Result<()> {
    let deposed = futures::future::try_join_all(
        pairs.iter().map(|pair| leader(client, pair.operator, &pair.holder)),
    );
    let work = async {
        for number in 0.. {
            work(client, &format!("work-{number}")).await?;
            sleep(PACE).await;
        }
        Ok(())
    };
    tokio::select! {
        deposed = deposed => deposed.map(drop),
        failed = work => failed,
    }
}

/// Something for each operator to write about, in a namespace of its own.
async fn work(client: &Client, name: &str) -> Result<()> {
    let once = PostParams::default();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&once, &builders::namespace(name)).await?;
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), name);
    groups.create(&once, &builders::operator_group(name, "group", &[name])).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), name);
    let csv = csv("lamp.v1.0.0", "1.0.0").deployment("lamp", "default").build();
    csvs.create(&once, &csv).await.context("the API server refuses the CSV")?;
    let catalogs: Api<CatalogSource> = Api::namespaced(client.clone(), name);
    catalogs.create(&once, &builders::catalog_source(name, "shop", "127.0.0.1:9")).await?;
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), name);
    subscriptions.create(&once, &builders::subscription(name, "lamp", "stable", "shop")).await?;
    Ok(())
}
