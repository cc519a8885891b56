//! The operators of a local cluster: started, replaced and ended in every way that scenarios need.

use anyhow::{Context, Result, ensure};

use super::Local;
use crate::faults::Proxy;
use crate::operators::{Admin, Operator, StartOptions};
use crate::packages;
use crate::process::{Running, tail};

impl Local {
    /// Ends both operators as a crash would and starts them again.
    pub async fn restart_operators(&self) -> Result<()> {
        self.fixture.kill_operators();
        self.start_both("-again").await
    }

    /// Ends an operator as a drained node would and starts it again. Fails when it does not end well.
    pub async fn replace_operator(&self, operator: Operator) -> Result<()> {
        end_well(operator, self.fixture.take_operator(operator)?)?;
        let admin = self.start_one(operator, "-again").await?;
        let ready = admin.until_ready().await;
        self.fixture.check().and(ready)
    }

    /// Starts another program of an operator, without election, beside the one that runs.
    pub async fn start_beside(&self, operator: Operator) -> Result<Running> {
        let special = StartOptions { log: format!("{operator}-beside"), ..StartOptions::default() };
        let started = self.binaries.operator(operator, &self.kubeconfig, special).await?;
        let (running, admin) = started;
        admin.until_ready().await?;
        Ok(running)
    }

    /// Ends an operator after another one was started and is ready, as a rolling update does. The new
    /// one does not serve the packages API, as both have one address here. Fails when the old one does
    /// not end well.
    pub async fn roll_operator(&self, operator: Operator) -> Result<()> {
        let args = self.flags(operator);
        let special =
            StartOptions { log: format!("{operator}-rolled"), args, ..StartOptions::default() };
        let (running, admin) = self.binaries.operator(operator, &self.kubeconfig, special).await?;
        admin.until_ready().await?;
        let old = self.fixture.take_operator(operator)?;
        self.fixture.keep_operator(operator, running, admin);
        end_well(operator, old)
    }

    /// Process id of an operator, and the most resident memory that it had so far, in bytes.
    pub fn process(&self, operator: Operator) -> Result<(u32, u64)> {
        self.operator(operator, |started| {
            let peak = started.running.peak_memory();
            peak.map(|peak| (started.running.record().pid, peak))
        })?
        .with_context(|| format!("{operator} has ended"))
    }

    /// Has the most resident memory of an operator counted anew.
    pub fn forget_peak(&self, operator: Operator) -> Result<()> {
        self.operator(operator, |started| started.running.forget_peak())?
    }

    /// The log of an operator so far.
    pub fn log(&self, operator: Operator) -> Result<String> {
        let path = self.operator(operator, |started| started.running.log().to_owned())?;
        std::fs::read_to_string(path).context("cannot read a log")
    }

    /// Starts both and waits until they are ready; their logs have names with this end.
    pub(super) async fn start_both(&self, end: &str) -> Result<()> {
        packages::announce(&self.client).await?;
        let mut admins = Vec::new();
        for operator in Operator::ALL {
            admins.push(self.start_one(operator, end).await?);
        }
        for admin in admins {
            let ready = admin.until_ready().await;
            self.fixture.check().and(ready)?;
        }
        packages::until_available(&self.client).await
    }

    fn flags(&self, operator: Operator) -> Vec<String> {
        let [both, catalog] = &self.flags;
        let own = catalog.iter().filter(|_| operator == Operator::Catalog);
        both.iter().chain(own).cloned().collect()
    }

    async fn start_one(&self, operator: Operator, end: &str) -> Result<Admin> {
        let mut args = self.flags(operator);
        if operator == Operator::Catalog {
            let address = packages::address(&self.client).await?;
            args.extend(["--packages-address".to_owned(), address.to_string()]);
        }
        let (log, server) = (format!("{operator}{end}"), self.proxy.as_ref().map(Proxy::url));
        let special = StartOptions { log, args, server, ..StartOptions::default() };
        self.start_operator(operator, special).await
    }
}

/// Fails when an operator does not end well.
fn end_well(operator: Operator, running: Running) -> Result<()> {
    let (log, code) = (running.log().to_owned(), running.terminate()?);
    ensure!(code == 0, "{operator} ended with {code}:\n{}", tail(&log, 15));
    Ok(())
}
