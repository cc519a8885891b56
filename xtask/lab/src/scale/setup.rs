//! A cluster and the operators under test.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use kube::Client;
use olm_testkit::builders::CatalogDir;
use olm_testkit::cluster::current::CurrentCluster;
use olm_testkit::cluster::{self, ClusterBackend};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::operators::{Admin, Binaries, Operator, StartOptions};
use olm_testkit::packages;
use olm_testkit::progress::Progress as Steps;
use olm_testkit::registry::Registry;
use tokio::time::Instant;

use super::Arguments;
use super::requests::{Requests, asked};
use xtask::build::programs;
use xtask::progress::Progress;
use xtask_demo::cluster::Backend;

/// Where an operator that another process runs serves its metrics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint {
    operator: Operator,
    address: SocketAddr,
}

impl FromStr for Endpoint {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, address) = text.split_once('=').context("write it as NAME=ADDRESS:PORT")?;
        let named = Operator::ALL.into_iter().find(|operator| operator.name() == name);
        let operator = named.with_context(|| format!("there is no operator {name:?}"))?;
        let address = address.parse().with_context(|| format!("{address:?} is no address"))?;
        Ok(Self { operator, address })
    }
}

/// A cluster in which the operators under test run.
pub(super) struct Setup {
    pub client: Client,
    /// Lines for whoever waits.
    pub progress: Progress,
    operators: BTreeMap<Operator, Admin>,
    own: Option<OwnCluster>,
}

/// A cluster that is ours.
struct OwnCluster {
    fixture: Fixture,
    /// How often operators were started; logs are named after it.
    starts: usize,
}

impl Setup {
    /// Starts the operators in a cluster of their own, or finds them in the current one.
    pub(super) async fn set(arguments: &Arguments, operators: &[Operator]) -> Result<Self> {
        let progress = Progress::new();
        match arguments.cluster {
            Backend::Local => Self::own(arguments, operators, progress).await,
            Backend::Current => Self::current(arguments, operators, progress).await,
        }
    }

    async fn own(
        arguments: &Arguments,
        operators: &[Operator],
        progress: Progress,
    ) -> Result<Self> {
        ensure!(arguments.metrics.is_empty(), "--metrics is for --cluster current");
        let dir = match &arguments.binaries {
            Some(dir) => dir.clone(),
            None => programs(true)?,
        };
        let places = FixturePaths::of(&dir, arguments.logs.as_deref());
        let fixture = Fixture::start("scale", &places, Steps::to_stderr()).await?;
        let client = fixture.client.clone();
        let own = OwnCluster { fixture, starts: 0 };
        let mut setup = Self { client, progress, operators: BTreeMap::new(), own: Some(own) };
        for operator in operators {
            setup.start(*operator).await?;
        }
        Ok(setup)
    }

    async fn current(
        arguments: &Arguments,
        operators: &[Operator],
        progress: Progress,
    ) -> Result<Self> {
        CurrentCluster.up().await?;
        let client = cluster::client(&CurrentCluster.kubeconfig().await?).await?;
        let mut found = BTreeMap::new();
        for operator in operators {
            let given = arguments.metrics.iter().find(|given| given.operator == *operator);
            let Some(given) = given else {
                bail!("say where {operator} serves metrics: --metrics {operator}=ADDRESS:PORT");
            };
            let admin = Admin::at(given.address);
            admin.metrics().await.with_context(|| format!("cannot reach {operator}"))?;
            found.insert(*operator, admin);
        }
        Ok(Self { client, progress, operators: found, own: None })
    }

    /// Resident memory of an operator in bytes.
    pub(super) async fn memory(&self, operator: Operator) -> Result<f64> {
        let Some(own) = &self.own else { return resident(&self.metrics(operator).await?) };
        let bytes = own.fixture.operator(operator, |started| started.running.resident_memory())?;
        let bytes = bytes.context("the process has ended")?;
        Ok(f64::from(u32::try_from(bytes / 1024)?) * 1024.0)
    }

    /// The most memory that an operator of ours has had since it was started, in bytes.
    pub(super) fn peak(&self, operator: Operator) -> Result<Option<f64>> {
        let Some(own) = &self.own else { return Ok(None) };
        let bytes = own.fixture.operator(operator, |started| started.running.peak_memory())?;
        let bytes = bytes.context("the process has ended")?;
        Ok(Some(f64::from(u32::try_from(bytes / 1024)?) * 1024.0))
    }

    /// Of the memory of an operator of ours what is no page of its program, in bytes.
    pub(super) fn anonymous(&self, operator: Operator) -> Result<Option<f64>> {
        let Some(own) = &self.own else { return Ok(None) };
        let bytes = own.fixture.operator(operator, |started| started.running.anonymous_memory())?;
        let bytes = bytes.context("the process has ended")?;
        Ok(Some(f64::from(u32::try_from(bytes / 1024)?) * 1024.0))
    }

    /// Serves a catalog to the operators, where they are ours.
    pub(super) fn serve(&self, name: &str, catalog: CatalogDir) -> Result<Option<Registry>> {
        self.own
            .as_ref()
            .map(|own| Registry::start(&own.fixture.binaries, name, catalog))
            .transpose()
    }

    /// How many requests an operator has made since its start, as it counts them itself.
    pub(super) async fn asked(&self, operator: Operator) -> Result<f64> {
        asked(&self.metrics(operator).await?)
    }

    /// What an operator measures, in text form.
    pub(super) async fn metrics(&self, operator: Operator) -> Result<String> {
        self.admin(operator)?.metrics().await
    }

    /// Counts requests of the operators from now on.
    pub(super) async fn requests(&self) -> Result<Requests> {
        let mut requests = match &self.own {
            Some(own) => {
                let operators: Vec<Operator> = self.operators.keys().copied().collect();
                let mut log = own.fixture.audit();
                log.skip()?;
                Requests::audited(log, &operators)
            }
            None => Requests::counted(self.operators.values().copied().collect()),
        };
        requests.writes().await?;
        Ok(requests)
    }

    /// Kills an operator and starts it again; how long it took to be ready. None when the process
    /// belongs to another process.
    pub(super) async fn restart(&mut self, operator: Operator) -> Result<Option<Duration>> {
        let Some(own) = &self.own else { return Ok(None) };
        own.fixture.take_operator(operator)?.kill();
        let started = Instant::now();
        self.start(operator).await?;
        Ok(Some(started.elapsed()))
    }

    /// Fails when one of our operators has ended.
    pub(super) fn check(&self) -> Result<()> {
        self.own.as_ref().map_or(Ok(()), |own| own.fixture.check())
    }

    /// Has catalog-operator serve the packages API, too, and returns where our programs are, and the
    /// kubeconfig of an administrator. Nothing where the cluster is not ours.
    pub(super) async fn serve_packages(&mut self) -> Result<Option<(Binaries, PathBuf)>> {
        let Some(own) = &mut self.own else { return Ok(None) };
        packages::announce(&self.client).await?;
        let address = packages::address(&self.client).await?.to_string();
        own.fixture.take_operator(Operator::Catalog)?.stop();
        let args = vec!["--packages-address".to_owned(), address];
        let log = format!("{}-packages", Operator::Catalog);
        let special = StartOptions { log, args, ..StartOptions::default() };
        let admin = own.fixture.start_operator(Operator::Catalog, special).await?;
        self.operators.insert(Operator::Catalog, admin);
        admin.until_ready().await?;
        packages::until_available(&self.client).await?;
        Ok(Some((own.fixture.binaries.clone(), own.fixture.kubeconfig.clone())))
    }

    /// Ends what was started.
    pub(super) async fn tear_down(self) -> Result<()> {
        match self.own {
            Some(own) => own.fixture.end().await,
            None => Ok(()),
        }
    }

    /// Starts an operator and waits until it is ready.
    async fn start(&mut self, operator: Operator) -> Result<()> {
        let own = self.own.as_mut().context("the operators of this cluster are not ours")?;
        own.starts += 1;
        let log = format!("{operator}-{}", own.starts);
        let special = StartOptions { log, ..StartOptions::default() };
        let admin = own.fixture.start_operator(operator, special).await?;
        self.operators.insert(operator, admin);
        let ready = admin.until_ready().await;
        self.check().and(ready)
    }

    fn admin(&self, operator: Operator) -> Result<&Admin> {
        self.operators.get(&operator).ok_or_else(|| anyhow!("{operator} is not under test"))
    }
}

/// Resident memory in bytes, of metrics in text form.
fn resident(metrics: &str) -> Result<f64> {
    let mut lines = metrics.lines();
    let value = lines.find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    let value = value.and_then(|value| value.trim().parse().ok());
    value.context("the metrics do not have the resident memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_names_operator_and_address() {
        let endpoint: Endpoint = "olm-operator=127.0.0.1:8080".parse().unwrap();
        assert_eq!((endpoint.operator, endpoint.address.port()), (Operator::Olm, 8080));
        for wrong in ["olm-operator", "olm=127.0.0.1:80", "olm-operator=here"] {
            assert!(wrong.parse::<Endpoint>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn memory_is_found_among_other_metrics() {
        let text = "process_open_fds 9\nprocess_resident_memory_bytes 1048576\n";
        assert!((resident(text).unwrap() - 1_048_576.0).abs() < f64::EPSILON);
        assert!(resident("process_open_fds 9").is_err());
    }
}
