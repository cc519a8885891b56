//! Who is measured: our two operators, or those of v0, as processes beside the cluster.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::operators::{Admin, Operator, StartOptions};
use olm_testkit::peer::{OlmV0, start_olm_v0};
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::take_over::{BesideV0, set_up_v0};
use tokio::time::Instant;

/// An implementation of OLM.
#[derive(Debug)]
pub(super) enum Implementation {
    /// Ours.
    Ours,
    /// v0, built from its Go module.
    V0(OlmV0),
}

impl Implementation {
    /// The names of its programs, as the audit log has them: first the one that looks after CSVs.
    pub(super) fn programs(&self) -> [&'static str; 2] {
        match self {
            Self::Ours => Operator::NAMES,
            Self::V0(_) => OlmV0::PROGRAMS,
        }
    }

    /// What a table calls it.
    pub(super) fn title(&self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::V0(_) => OlmV0::version(),
        }
    }

    /// A cluster with its definitions, and its operators at work there. The flags are for our catalog
    /// operator.
    ///
    /// # Errors
    /// The cluster or an operator does not start.
    pub(super) async fn start(
        &self,
        binaries: &Path,
        logs: Option<&Path>,
        flags: &[String],
    ) -> Result<Olm> {
        let places = FixturePaths::of(binaries, logs);
        match self {
            Self::Ours => ours(&places, flags).await,
            Self::V0(v0) => v0_at_work(v0, &places, logs).await,
        }
    }
}

/// Operators at work in a cluster.
pub(super) struct Olm {
    /// The cluster.
    pub(super) fixture: Fixture,
    /// In the order of [`Implementation::programs`].
    operators: Vec<Running>,
    /// Where ours say of themselves what they do; none of v0.
    admins: Vec<Admin>,
    /// What v0 needs beside itself.
    beside: Option<BesideV0>,
}

async fn ours(places: &FixturePaths, flags: &[String]) -> Result<Olm> {
    let fixture = Fixture::start("bench-ours", places, Progress::to_stderr()).await?;
    let (operators, admins) = ours_at_work(&fixture, flags).await?;
    Ok(Olm { fixture, operators, admins, beside: None })
}

async fn ours_at_work(fixture: &Fixture, flags: &[String]) -> Result<(Vec<Running>, Vec<Admin>)> {
    let (mut operators, mut admins) = (Vec::new(), Vec::new());
    for operator in Operator::ALL {
        let of_catalogs = operator == Operator::Catalog;
        let args = if of_catalogs { flags.to_vec() } else { Vec::new() };
        let special = StartOptions { args, ..StartOptions::default() };
        let started = fixture.binaries.operator(operator, &fixture.kubeconfig, special);
        let (running, admin) = started.await?;
        admin.until_ready().await?;
        operators.push(running);
        admins.push(admin);
    }
    Ok((operators, admins))
}

async fn v0_at_work(v0: &OlmV0, places: &FixturePaths, logs: Option<&Path>) -> Result<Olm> {
    let fixture = Fixture::empty("bench-v0", places, Progress::to_stderr()).await?;
    let (operators, beside) = set_up_v0(v0, &fixture, logs).await?;
    Ok(Olm { fixture, operators, admins: Vec::new(), beside: Some(beside) })
}

impl Olm {
    /// Has a Service of OLM's namespace reached at this address, where v0 is at work, and says whether it is. Ours
    /// reach Services at their own addresses.
    pub(super) fn route(&self, service: &str, address: SocketAddr) -> bool {
        let Some(beside) = &self.beside else { return false };
        beside.route(service, address);
        true
    }

    /// Ends the operators and starts them again; says when they were started.
    ///
    /// # Errors
    /// One does not start.
    pub(super) async fn restart(
        &mut self,
        implementation: &Implementation,
        flags: &[String],
    ) -> Result<Instant> {
        self.operators.drain(..).for_each(Running::stop);
        let begun = Instant::now();
        (self.operators, self.admins) = match (implementation, &self.beside) {
            (Implementation::V0(v0), Some(beside)) => {
                let (logs, proxy) = (self.fixture.cluster().scratch(), beside.proxy_url());
                (start_olm_v0(v0, &self.fixture.kubeconfig, &logs, "-again", &proxy)?, Vec::new())
            }
            _ => ours_at_work(&self.fixture, flags).await?,
        };
        Ok(begun)
    }

    /// Resident memory of each operator, in bytes.
    ///
    /// # Errors
    /// One has ended.
    pub(super) fn memory(&self) -> Result<Vec<u64>> {
        self.each(Running::resident_memory)
    }

    /// Of that what is the process's own: the rest are pages of its program.
    ///
    /// # Errors
    /// One has ended.
    pub(super) fn anonymous_memory(&self) -> Result<Vec<u64>> {
        self.each(Running::anonymous_memory)
    }

    /// What the operators measure, in text form; nothing where they are those of v0.
    ///
    /// # Errors
    /// One does not answer.
    pub(super) async fn metrics(&self) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for admin in &self.admins {
            texts.push(admin.metrics().await?);
        }
        Ok(texts)
    }

    /// Time that both operators spent on processors since they started.
    ///
    /// # Errors
    /// One has ended.
    pub(super) fn processor_time(&self) -> Result<Duration> {
        Ok(self.each(Running::processor_time)?.into_iter().sum())
    }

    /// What the operators wrote into their logs.
    ///
    /// # Errors
    /// A log cannot be read.
    pub(super) fn logs(&self) -> Result<String> {
        let text = |operator: &Running| std::fs::read_to_string(operator.log());
        let texts: Result<Vec<String>, _> = self.operators.iter().map(text).collect();
        Ok(texts.context("cannot read a log")?.concat())
    }

    /// Fails, with the end of its log, when an operator has ended.
    ///
    /// # Errors
    /// One has ended.
    pub(super) fn check(&mut self) -> Result<()> {
        self.operators.iter_mut().try_for_each(Running::check)
    }

    /// Ends everything.
    ///
    /// # Errors
    /// The cluster does not end.
    pub(super) async fn end(self) -> Result<()> {
        self.operators.into_iter().for_each(Running::stop);
        self.fixture.end().await
    }

    fn each<T>(&self, look: impl Fn(&Running) -> Option<T>) -> Result<Vec<T>> {
        let all: Option<Vec<T>> = self.operators.iter().map(look).collect();
        all.context("an operator has ended")
    }
}
