//! Two replicas of an operator: how long no replica acts when the leader ends, what they write
//! while nothing happens, and what a standby needs. First olm-operator, then catalog-operator.

mod work;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use olm_testkit::audit::AuditLog;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::fixture::Fixture;
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::process::Running;
use tokio::time::{Instant, sleep};

use work::Work;

/// How often the log is looked at: the error of each figure.
const LOOK: Duration = Duration::from_millis(5);

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(3);

/// What converging and taking over may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long writes are counted while nothing happens.
const IDLE: Duration = Duration::from_secs(60);

/// How a leader ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It is asked to, and gives its Lease back.
    Asked,
    /// It is killed, and its Lease has to run out.
    Killed,
}

/// Measures and prints.
pub(super) async fn run(fixture: &Fixture, count: usize) -> Result<()> {
    for operator in Operator::ALL {
        let work = Work::of(operator, fixture.client.clone(), &fixture.binaries)?;
        let mut bench = Bench { fixture, operator, work, started: 0 };
        bench.run(count).await.with_context(|| format!("cannot measure {operator}"))?;
    }
    Ok(())
}

struct Bench<'a> {
    fixture: &'a Fixture,
    operator: Operator,
    work: Work,
    started: usize,
}

impl Bench<'_> {
    async fn run(&mut self, count: usize) -> Result<()> {
        println!("{}", self.operator);
        let leader = self.replica().await?;
        let standby = self.replica().await?;
        // Plans wait for an OperatorGroup that has a controller.
        let beside = match self.operator {
            Operator::Olm => None,
            Operator::Catalog => {
                Some(self.fixture.binaries.olm_operator(&self.fixture.kubeconfig).await?)
            }
        };
        self.work.prepare().await?;
        let first = self.work.create().await?;
        self.work.done(&first).await?;
        self.idle(&leader, &standby).await?;
        let mut pair = (leader, standby);
        for end in [End::Asked, End::Killed] {
            let mut times = Vec::new();
            for _ in 0..count {
                let (time, next) = self.failover(pair, end).await?;
                times.push(time);
                pair = next;
            }
            print(end, &mut times);
        }
        [pair.1, pair.0].into_iter().chain(beside).for_each(Running::stop);
        Ok(())
    }

    /// Starts a replica and waits until it is ready.
    async fn replica(&mut self) -> Result<Running> {
        self.started += 1;
        let log = format!("{}-{}", self.operator, self.started);
        let special =
            StartOptions { log, args: vec![LEADER_ELECT.to_owned()], ..StartOptions::default() };
        let started =
            self.fixture.binaries.operator(self.operator, &self.fixture.kubeconfig, special);
        let (running, admin) = started.await?;
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
        audit.until_idle(&[self.operator.name()], QUIET, TIMEOUT).await?;
        let ended = match end {
            End::Asked => {
                leader.terminate()?;
                Instant::now()
            }
            End::Killed => {
                leader.kill();
                Instant::now()
            }
        };
        let name = self.work.create().await?;
        while audit.writes(&[self.operator.name()])?.is_empty() {
            if ended.elapsed() > TIMEOUT {
                bail!("no replica took over within {TIMEOUT:?}");
            }
            sleep(LOOK).await;
        }
        let time = ended.elapsed();
        self.work.done(&name).await?;
        Ok((time, (standby, self.replica().await?)))
    }

    /// What both write within a minute, and their memory.
    async fn idle(&self, leader: &Running, standby: &Running) -> Result<()> {
        self.writes().until_idle(&[self.operator.name()], QUIET, TIMEOUT).await?;
        let mut audit = self.fixture.audit();
        audit.skip()?;
        sleep(IDLE).await;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for write in audit.writes(&[self.operator.name()])? {
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
        self.fixture.audit().apart_from("leases")
    }
}

fn print(end: End, times: &mut [Duration]) {
    times.sort();
    let at = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(rank).copied().unwrap_or_default().as_secs_f64()
    };
    let how = match end {
        End::Asked => "leader asked to end",
        End::Killed => "leader killed",
    };
    println!(
        "failover   {how}: p50 {:.2} s, p99 {:.2} s, from its end to the next one's first write, {} times",
        at(50),
        at(99),
        times.len()
    );
}
