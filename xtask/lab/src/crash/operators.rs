//! Both operators as child processes, one of which may crash and come back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures::future::join_all;
use olm_testkit::operators::{Admin, Binaries, Operator, StartOptions};
use olm_testkit::process::{Running, tail};
use olm_testkit::wait::TIMEOUT;
use tokio::time::{sleep, timeout};

use super::effects::{self, Effect, LOG_FILTER};

/// Exit code of an operator that ended where it was configured to; `olm_kit` has it from here on,
/// too.
const CRASHED: i32 = 86;

/// How often the operators are looked at. A restart is as fast as that of a kubelet at best.
const LOOK: Duration = Duration::from_millis(20);

/// A write of an operator, after which it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CrashPoint {
    pub operator: Operator,
    /// Counted from 1.
    pub number: usize,
}

/// The two operators of a cluster.
#[derive(Clone, Debug)]
pub(super) struct Starter {
    pub binaries: Binaries,
    pub kubeconfig: PathBuf,
}

/// Two operators that run, or are about to run again.
pub(super) struct Pair {
    starter: Starter,
    processes: Vec<Process>,
    point: Option<CrashPoint>,
    /// What the crashed operator did before it ended.
    crashed: Option<Vec<Effect>>,
}

struct Process {
    operator: Operator,
    running: Running,
    admin: Admin,
}

impl Starter {
    /// Starts both and waits until they are ready.
    pub(super) async fn start(&self, point: Option<CrashPoint>) -> Result<Pair> {
        let mut processes = Vec::new();
        for operator in Operator::ALL {
            let stop = point.filter(|point| point.operator == operator);
            processes.push(self.start_one(operator, stop, operator.name()).await?);
        }
        let mut pair = Pair { starter: self.clone(), processes, point, crashed: None };
        let ready = timeout(TIMEOUT, pair.until_ready()).await;
        ready.context("an operator does not become ready")??;
        Ok(pair)
    }

    async fn start_one(
        &self,
        operator: Operator,
        stop: Option<CrashPoint>,
        log: &str,
    ) -> Result<Process> {
        let mut args = vec!["--log-format".to_owned(), "json".to_owned()];
        if let Some(point) = stop {
            args.extend(["--stop-after-writes".to_owned(), point.number.to_string()]);
        }
        let env = vec![("OLM_LOG".to_owned(), LOG_FILTER.to_owned())];
        let special = StartOptions { log: log.to_owned(), args, env, ..StartOptions::default() };
        let (running, admin) = self.binaries.operator(operator, &self.kubeconfig, special).await?;
        Ok(Process { operator, running, admin })
    }
}

impl Pair {
    /// Watches over the operators until dropped, or until one fails.
    pub(super) async fn supervise(&mut self) -> Result<()> {
        loop {
            self.look().await?;
            sleep(LOOK).await;
        }
    }

    /// Starts a crashed operator again; fails when one has ended otherwise.
    async fn look(&mut self) -> Result<()> {
        for process in &mut self.processes {
            let Some(code) = process.running.exit_code()? else { continue };
            let operator = process.operator;
            let expected = self.point.is_some_and(|point| point.operator == operator);
            ensure!(
                code == CRASHED && expected && self.crashed.is_none(),
                "{operator} ended with code {code}:\n{}",
                tail(process.running.log(), 15)
            );
            let crashed = effects::read(process.running.log())?;
            let log = format!("{operator}-again");
            *process = self.starter.start_one(operator, None, &log).await?;
            self.crashed = Some(crashed);
        }
        Ok(())
    }

    async fn until_ready(&mut self) -> Result<()> {
        loop {
            self.look().await?;
            let asked = self.processes.iter().map(|process| process.admin.is_ready());
            if join_all(asked).await.into_iter().all(|ready| ready) {
                return Ok(());
            }
            sleep(LOOK).await;
        }
    }

    /// The write after which an operator has ended, when it has.
    pub(super) fn crashed_after(&self) -> Option<&Effect> {
        let before = self.point?.number.checked_sub(1)?;
        self.crashed.as_ref()?.get(before)
    }

    /// Whether an operator has ended where it was configured to.
    pub(super) fn has_crashed(&self) -> bool {
        self.crashed.is_some()
    }

    /// The file with the output of an operator.
    pub(super) fn log(&self, operator: Operator) -> Result<&Path> {
        match self.processes.iter().find(|process| process.operator == operator) {
            Some(process) => Ok(process.running.log()),
            None => bail!("{operator} does not run"),
        }
    }

    /// Ends both.
    pub(super) fn stop(self) {
        // What they would write while they drain belongs to no run: they end as in a crash.
        self.processes.into_iter().for_each(|mut process| process.running.kill());
    }
}
