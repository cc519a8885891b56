//! Who installs: our two operators, or those of v0, as processes beside the cluster.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use olm_testkit::fixture::{Fixture, Places};
use olm_testkit::operators::{Operator, Special};
use olm_testkit::peer::OlmV0;
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::stand_in::StandIn;
use olm_testkit::take_over::{Files, ServiceProxy, TakeOverCluster};
use tempfile::TempDir;

use crate::take_over::start_v0;

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

    /// A cluster with its definitions, and its operators at work there.
    ///
    /// # Errors
    /// The cluster or an operator does not start.
    pub(super) async fn start(&self, binaries: &Path, logs: Option<&Path>) -> Result<Olm> {
        let places = Places::of(binaries, logs);
        match self {
            Self::Ours => ours(&places).await,
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
    /// What v0 needs beside itself.
    _beside: Option<(ServiceProxy, StandIn, TempDir)>,
}

async fn ours(places: &Places) -> Result<Olm> {
    let fixture = Fixture::start("installs", places, Progress::to_stderr()).await?;
    let mut operators = Vec::new();
    for operator in Operator::ALL {
        let special = Special::default();
        let started = fixture.binaries.operator(operator, &fixture.kubeconfig, special);
        let (running, admin) = started.await?;
        admin.until_ready().await?;
        operators.push(running);
    }
    Ok(Olm { fixture, operators, _beside: None })
}

async fn v0_at_work(v0: &OlmV0, places: &Places, logs: Option<&Path>) -> Result<Olm> {
    let fixture = Fixture::empty("installs-v0", places, Progress::to_stderr()).await?;
    let logs: PathBuf = logs.map_or_else(|| fixture.cluster().scratch(), Path::to_owned);
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    let files = Files::write(folder.path())?;
    files.of_v0(&v0.definitions()?)?;
    let cluster = TakeOverCluster::of(&fixture, files)?;
    cluster.files.apply_v0(&cluster.kubectl)?;
    let proxy = ServiceProxy::start(cluster.client.clone()).await?;
    let (operators, stand_in) = start_v0(v0, &cluster, &logs, ("", &proxy)).await?;
    Ok(Olm { fixture, operators, _beside: Some((proxy, stand_in, folder)) })
}

impl Olm {
    /// Resident memory of each operator, in bytes.
    ///
    /// # Errors
    /// One has ended.
    pub(super) fn memory(&self) -> Result<Vec<u64>> {
        self.each(Running::resident_memory)
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
