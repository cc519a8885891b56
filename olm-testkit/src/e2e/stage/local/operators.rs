//! The operators of a local cluster: started, replaced and ended in every way that scenarios need.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};

use super::super::Stage;
use super::Local;
use crate::cluster::ClusterBackend;
use crate::faults::Proxy;
use crate::operators::{Admin, Operator, Special};
use crate::packages;
use crate::process::{Running, tail};

impl Local {
    /// Ends both operators as a crash would and starts them again.
    pub async fn restart_operators(&self) -> Result<()> {
        if let Ok(mut operators) = self.operators.lock() {
            operators.drain(..).for_each(|(_, mut running, _)| running.kill());
        }
        self.start_operators("-again").await
    }

    /// Ends an operator as a drained node would and starts it again. Fails when it does not end well.
    pub async fn replace_operator(&self, operator: Operator) -> Result<()> {
        let found = {
            let mut operators =
                self.operators.lock().map_err(|_| anyhow!("a scenario panicked"))?;
            let place = operators.iter().position(|(started, _, _)| *started == operator);
            place.map(|place| operators.remove(place).1)
        };
        end_well(operator, found.with_context(|| format!("{operator} does not run"))?)?;
        let kubeconfig = self.cluster.kubeconfig().await?;
        let admin = self.start_operator(operator, &kubeconfig, "-again").await?;
        let ready = admin.until_ready().await;
        self.check().and(ready)
    }

    /// Starts another program of an operator, without election, beside the one that runs.
    pub async fn start_beside(&self, operator: Operator) -> Result<Running> {
        let kubeconfig = self.cluster.kubeconfig().await?;
        let special = Special { log: format!("{operator}-beside"), ..Special::default() };
        let (running, admin) = self.binaries.operator(operator, &kubeconfig, special).await?;
        admin.until_ready().await?;
        Ok(running)
    }

    /// Ends an operator after another one was started and is ready, as a rolling update does. The new
    /// one does not serve the packages API, as both have one address here. Fails when the old one does
    /// not end well.
    pub async fn roll_operator(&self, operator: Operator) -> Result<()> {
        let kubeconfig = self.cluster.kubeconfig().await?;
        let args = self.flags(operator);
        let special = Special { log: format!("{operator}-rolled"), args, ..Special::default() };
        let (running, admin) = self.binaries.operator(operator, &kubeconfig, special).await?;
        admin.until_ready().await?;
        let old = {
            let mut operators =
                self.operators.lock().map_err(|_| anyhow!("a scenario panicked"))?;
            let place = operators.iter().position(|(started, _, _)| *started == operator);
            let old = place.map(|place| operators.remove(place).1);
            operators.push((operator, running, admin));
            old
        };
        end_well(operator, old.with_context(|| format!("{operator} does not run"))?)
    }

    /// Ends the operators. The cluster, and what it says of them, is still there.
    pub fn end_operators(&self) {
        if let Ok(mut operators) = self.operators.lock() {
            operators.drain(..).for_each(|(_, running, _)| running.stop());
        }
    }

    /// Where an operator serves its metrics.
    pub fn admin(&self, operator: Operator) -> Result<Admin> {
        let operators = self.operators.lock().map_err(|_| anyhow!("a scenario panicked"))?;
        let found = operators.iter().find(|(started, _, _)| *started == operator);
        found.map(|(_, _, admin)| *admin).with_context(|| format!("{operator} does not run"))
    }

    /// Process id of an operator, and the most resident memory that it had so far, in bytes.
    pub fn process(&self, operator: Operator) -> Result<(u32, u64)> {
        let operators = self.operators.lock().map_err(|_| anyhow!("a scenario panicked"))?;
        let found = operators.iter().find(|(started, _, _)| *started == operator);
        let (_, running, _) = found.with_context(|| format!("{operator} does not run"))?;
        let peak = running.peak_memory().with_context(|| format!("{operator} has ended"))?;
        Ok((running.record().pid, peak))
    }

    /// The log of an operator so far.
    pub fn log(&self, operator: Operator) -> Result<String> {
        let operators = self.operators.lock().map_err(|_| anyhow!("a scenario panicked"))?;
        let found = operators.iter().find(|(started, _, _)| *started == operator);
        let (_, running, _) = found.with_context(|| format!("{operator} does not run"))?;
        std::fs::read_to_string(running.log()).context("cannot read a log")
    }

    /// Starts both and waits until they are ready; their logs have names with this end.
    pub(super) async fn start_operators(&self, end: &str) -> Result<()> {
        packages::announce(&self.client).await?;
        let kubeconfig = self.cluster.kubeconfig().await?;
        let mut admins = Vec::new();
        for operator in Operator::ALL {
            admins.push(self.start_operator(operator, &kubeconfig, end).await?);
        }
        for admin in admins {
            let ready = admin.until_ready().await;
            self.check().and(ready)?;
        }
        packages::until_available(&self.client).await
    }

    fn flags(&self, operator: Operator) -> Vec<String> {
        let [both, catalog] = &self.flags;
        let own = catalog.iter().filter(|_| operator == Operator::Catalog);
        both.iter().chain(own).cloned().collect()
    }

    async fn start_operator(
        &self,
        operator: Operator,
        kubeconfig: &Path,
        end: &str,
    ) -> Result<Admin> {
        let mut args = self.flags(operator);
        if operator == Operator::Catalog {
            let address = packages::address(&self.client).await?;
            args.extend(["--packages-address".to_owned(), address.to_string()]);
        }
        let (log, server) = (format!("{operator}{end}"), self.proxy.as_ref().map(Proxy::url));
        let special = Special { log, args, server, ..Special::default() };
        let (running, admin) = self.binaries.operator(operator, kubeconfig, special).await?;
        if let Ok(mut operators) = self.operators.lock() {
            operators.push((operator, running, admin));
        }
        Ok(admin)
    }
}

/// Fails when an operator does not end well.
fn end_well(operator: Operator, running: Running) -> Result<()> {
    let (log, code) = (running.log().to_owned(), running.terminate()?);
    ensure!(code == 0, "{operator} ended with {code}:\n{}", tail(&log, 15));
    Ok(())
}
