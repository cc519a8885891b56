//! Two replicas of olm-operator: how long nobody acts when the leader ends, what they write while
//! nothing happens, and what a standby needs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::audit::AuditLog;
use olm_testkit::builders::{self, csv};
use olm_testkit::cluster::{self, ClusterBackend, local::LocalCluster};
use olm_testkit::deploy::{self, LEADER_ELECT, Options, With};
use olm_testkit::operators::{Binaries, Operator, Special};
use olm_testkit::process::Running;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup};
use tokio::time::{Instant, sleep};

/// Where the operators have something to do.
const NAMESPACE: &str = "failover";

/// How often the log is looked at: the error of each figure.
const LOOK: Duration = Duration::from_millis(5);

/// Rest after which everything has settled.
const QUIET: Duration = Duration::from_secs(3);

/// What settling and taking over may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long writes are counted while nothing happens.
const IDLE: Duration = Duration::from_secs(60);

/// How a leader ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It is told to, and gives its Lease back.
    Told,
    /// It is killed, and its Lease has to run out.
    Killed,
}

/// Measures and prints.
pub(super) async fn run(cluster: &LocalCluster, binaries: &Binaries, count: usize) -> Result<()> {
    let kubeconfig = cluster.kubeconfig().await?;
    let client = cluster::client(&kubeconfig).await?;
    deploy::apply(&client, &Options::default(), With::Definitions).await?;
    prepare(&client).await?;
    let mut bench = Bench { cluster, binaries, kubeconfig, client, started: 0, installed: 0 };
    let leader = bench.replica().await?;
    let standby = bench.replica().await?;
    bench.install().await?;
    bench.idle(&leader, &standby).await?;
    let mut pair = (leader, standby);
    for end in [End::Told, End::Killed] {
        let mut times = Vec::new();
        for _ in 0..count {
            let (time, next) = bench.failover(pair, end).await?;
            times.push(time);
            pair = next;
        }
        print(end, &mut times);
    }
    pair.1.stop();
    pair.0.stop();
    Ok(())
}

struct Bench<'a> {
    cluster: &'a LocalCluster,
    binaries: &'a Binaries,
    kubeconfig: PathBuf,
    client: Client,
    started: usize,
    installed: usize,
}

impl Bench<'_> {
    /// Starts a replica and waits until it is ready.
    async fn replica(&mut self) -> Result<Running> {
        self.started += 1;
        let (log, args) = (format!("olm-operator-{}", self.started), vec![LEADER_ELECT.to_owned()]);
        let special = Special { log, args, ..Special::default() };
        let (running, admin) =
            self.binaries.operator(Operator::Olm, &self.kubeconfig, special).await?;
        admin.until_ready().await?;
        Ok(running)
    }

    /// Ends the leader, gives the other one something to do, and waits for its first write.
    async fn failover(
        &mut self,
        (mut leader, standby): (Running, Running),
        end: End,
    ) -> Result<(Duration, (Running, Running))> {
        let mut audit = self.writes();
        audit.until_quiet(&[Operator::Olm.name()], QUIET, PATIENCE).await?;
        let ended = match end {
            End::Told => {
                leader.terminate()?;
                Instant::now()
            }
            End::Killed => {
                leader.kill();
                Instant::now()
            }
        };
        let name = self.create().await?;
        while audit.writes(&[Operator::Olm.name()])?.is_empty() {
            if ended.elapsed() > PATIENCE {
                bail!("nobody took over within {PATIENCE:?}");
            }
            sleep(LOOK).await;
        }
        let time = ended.elapsed();
        self.succeeded(&name).await?;
        Ok((time, (standby, self.replica().await?)))
    }

    /// What both write within a minute, and their memory.
    async fn idle(&self, leader: &Running, standby: &Running) -> Result<()> {
        self.writes().until_quiet(&[Operator::Olm.name()], QUIET, PATIENCE).await?;
        let mut audit = AuditLog::new(self.cluster.audit_log());
        audit.skip()?;
        sleep(IDLE).await;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for write in audit.writes(&[Operator::Olm.name()])? {
            *counts.entry(write.to_string()).or_default() += 1;
        }
        for (write, count) in counts {
            println!("idle       {count} per minute: {write}");
        }
        for (role, running) in [("leader", leader), ("standby", standby)] {
            let memory = running.resident_memory().context("a replica has ended")?;
            let mib = memory as f64 / f64::from(1 << 20);
            println!("memory     {role:<8} {mib:.1} MiB resident");
        }
        Ok(())
    }

    /// The log of what is written, apart from Leases.
    fn writes(&self) -> AuditLog {
        AuditLog::new(self.cluster.audit_log()).apart_from("leases")
    }

    async fn install(&mut self) -> Result<()> {
        let name = self.create().await?;
        self.succeeded(&name).await
    }

    async fn create(&mut self) -> Result<String> {
        self.installed += 1;
        let name = format!("lamp-{}.v1.0.0", self.installed);
        let deployment = format!("lamp-{}", self.installed);
        let csv = csv(&name, "1.0.0").deployment(&deployment, "default").build();
        let made = self.csvs().create(&PostParams::default(), &csv).await;
        made.context("the API server refuses a CSV")?;
        Ok(name)
    }

    async fn succeeded(&self, name: &str) -> Result<()> {
        let succeeded = |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        wait::until(&self.csvs(), name, "succeed", succeeded).await.map(drop)
    }

    fn csvs(&self) -> Api<ClusterServiceVersion> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }
}

async fn prepare(client: &Client) -> Result<()> {
    let once = PostParams::default();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&once, &builders::namespace(NAMESPACE)).await?;
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), NAMESPACE);
    groups.create(&once, &builders::operator_group(NAMESPACE, "group", &[NAMESPACE])).await?;
    Ok(())
}

fn print(end: End, times: &mut [Duration]) {
    times.sort();
    let at = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(rank).copied().unwrap_or_default().as_secs_f64()
    };
    let how = match end {
        End::Told => "leader told to end",
        End::Killed => "leader killed",
    };
    println!(
        "failover   {how}: p50 {:.2} s, p99 {:.2} s, from its end to the next one's first write, {} times",
        at(50),
        at(99),
        times.len()
    );
}
