//! The cluster, who manages it, and how one follows the other.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, ListParams};
use kube::{Client, Resource, ResourceExt};
use olm_testkit::audit::{AuditLog, Write};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use olm_testkit::peer::OlmV0;
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::registry::Registry;
use olm_testkit::take_over::{
    Content, Files, ImageCatalog, Ours, PackageServer, ServiceProxy, State, TakeOverCluster,
    install, install_from_image, needless, recording, serve, start_v0,
};
use olm_types::api::{CatalogSource, Subscription};
use olm_types::conditions::{catalog_source, subscription};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::process::Command;

use super::report::Report;
use super::served;

/// Where our operator serves catalogs, on this machine.
const ADDRESS: [u8; 4] = [127, 214, 3, 1];

/// Rest after which no client writes any more.
const QUIET: Duration = Duration::from_secs(6);

/// What that may take.
const TIMEOUT: Duration = Duration::from_secs(240);

/// A cluster that an implementation of OLM manages.
pub(super) struct ManagedCluster {
    fixture: Fixture,
    cluster: TakeOverCluster,
    logs: PathBuf,
    v0: OlmV0,
    audit: AuditLog,
    registry: Registry,
    /// Only where everything is installed.
    image: Option<ImageCatalog>,
    proxy: ServiceProxy,
    manager: Manager,
    files: tempfile::TempDir,
}

/// Who manages it.
enum Manager {
    V0(Vec<Running>, PackageServer),
    Ours(Ours),
    None,
}

impl ManagedCluster {
    /// v0 in a new cluster, with operators that it installed, at rest.
    pub(super) async fn begin(
        v0: OlmV0,
        binaries: &Path,
        logs: Option<&Path>,
        content: Content,
    ) -> Result<Self> {
        let places = FixturePaths::of(binaries, logs);
        let fixture = Fixture::empty("take-over", &places, Progress::to_stderr()).await?;
        let logs = logs.map_or_else(|| fixture.cluster().scratch(), Path::to_owned);
        let folder = tempfile::tempdir().context("cannot create a directory")?;
        let files = Files::write(folder.path())?;
        files.of_v0(&v0.definitions()?)?;
        let cluster = TakeOverCluster::of(&fixture, files)?;
        cluster.files.apply_v0(&cluster.kubectl)?;
        let proxy = ServiceProxy::start(cluster.client.clone()).await?;
        let manager = v0_manages(&v0, &cluster, &logs, ("", &proxy)).await?;
        let registry = serve(&cluster.binaries)?;
        let image = match content {
            Content::Everything => {
                Some(ImageCatalog::add(&cluster.client, &cluster.binaries).await?)
            }
            Content::Durable => None,
        };
        install(&cluster.client, &registry, content).await?;
        if image.is_some() {
            install_from_image(&cluster.client).await?;
        }
        let mut audit = fixture.audit().apart_from("leases");
        audit.until_idle(&OlmV0::PROGRAMS, QUIET, TIMEOUT).await?;
        Ok(Self {
            fixture,
            cluster,
            logs,
            v0,
            audit,
            registry,
            image,
            proxy,
            manager,
            files: folder,
        })
    }

    /// What v0 left, written down.
    pub(super) async fn record(&self) -> Result<String> {
        recording::record(&self.cluster.client, &self.registry.address()).await
    }

    /// From v0 to ours.
    pub(super) async fn ours_take_over(&mut self) -> Result<Report> {
        let before = State::now(&self.cluster.client).await?;
        self.stop();
        self.audit.skip()?;
        let mut ours = Ours::take_over(&self.cluster).await?;
        ours.retire_package_server(&self.cluster).await?;
        ours.answer(&self.cluster).await?;
        self.manager = Manager::Ours(ours);
        let programs = Operator::NAMES;
        let writes = self.audit.until_idle(&programs, QUIET, TIMEOUT).await?;
        let title = format!("ours, after v0 {}", OlmV0::version());
        let needless = Some(needless(&writes));
        Ok(Report { needless, ..self.report(title, &before, writes).await? })
    }

    /// From v0 to ours, which serve the catalog by image themselves. Says what v0 had of it.
    pub(super) async fn ours_serve(&mut self) -> Result<Value> {
        let before = served::objects(&self.cluster.client).await?;
        self.stop();
        let image = self.image.as_ref().context("there is no catalog by image")?;
        // v0 makes another Service of it afterwards, with another address.
        self.proxy.route(ImageCatalog::NAME, OLM_NAMESPACE, image.address());
        let folder = self.files.path();
        let registry = ImageRegistry::start(folder, false).await?;
        let rules = folder.join("registries.conf");
        std::fs::write(&rules, image.publish(&registry).await?)
            .context("cannot write rules about registries")?;
        let flags = [
            "--catalogs=process".to_owned(),
            format!("--catalogs-dir={}", folder.join("catalogs").display()),
            format!("--registries-config={}", rules.display()),
        ];
        let mut ours = Ours::take_over_serving(&self.cluster, ADDRESS.into(), &flags).await?;
        ours.retire_package_server(&self.cluster).await?;
        served::by_the_operator(&self.cluster.client).await?;
        ours.answer(&self.cluster).await?;
        self.manager = Manager::Ours(ours);
        Ok(before)
    }

    /// Waits until v0 has what it had of the catalog by image.
    pub(super) async fn is_restored(&self, before: &Value) -> Result<()> {
        served::until_restored(&self.cluster.client, before).await
    }

    /// From ours to v0, as docs/take-over.md says.
    pub(super) async fn v0_takes_over(&mut self) -> Result<Report> {
        let before = State::now(&self.cluster.client).await?;
        self.stop();
        self.audit.skip()?;
        let TakeOverCluster { kubectl, files, .. } = &self.cluster;
        files.stop_operators(kubectl)?;
        self.hand_back().await?;
        kubectl.run(&["delete", "apiservice", "v1.packages.operators.coreos.com"])?;
        files.apply_v0(kubectl)?;
        self.manager =
            v0_manages(&self.v0, &self.cluster, &self.logs, ("-again", &self.proxy)).await?;
        let writes = self.audit.until_idle(&OlmV0::PROGRAMS, QUIET, TIMEOUT).await?;
        let title = format!("v0 {}, after ours", OlmV0::version());
        self.report(title, &before, writes).await
    }

    /// Takes out of statuses what v0 would leave as it is.
    async fn hand_back(&self) -> Result<()> {
        let mut command = Command::new(self.cluster.binaries.program("kubectl-olm"));
        command.arg("--kubeconfig").arg(&self.cluster.kubeconfig).args(["hand-back", "-A"]);
        let output = command.output().await.context("cannot run kubectl-olm")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "kubectl olm hand-back: {complaint}");
        let client = &self.cluster.client;
        nothing_is_left::<Subscription>(client, &subscription::OURS).await?;
        nothing_is_left::<CatalogSource>(client, &catalog_source::OURS).await
    }

    /// Ends everything.
    pub(super) async fn end(mut self) -> Result<()> {
        self.stop();
        self.registry.die();
        if let Some(image) = self.image.take() {
            image.stop();
        }
        self.fixture.end().await
    }

    fn stop(&mut self) {
        match std::mem::replace(&mut self.manager, Manager::None) {
            Manager::V0(operators, package_server) => {
                drop(package_server);
                operators.into_iter().for_each(Running::stop);
            }
            Manager::Ours(ours) => ours.stop(),
            Manager::None => {}
        }
    }

    async fn report(&self, title: String, before: &State, writes: Vec<Write>) -> Result<Report> {
        let after = State::now(&self.cluster.client).await?;
        Ok(Report {
            title,
            pods: before.pods.count(),
            restarted: after.pods.restarted_since(&before.pods),
            needless: None,
            writes,
            changes: after.changes(before)?,
        })
    }
}

async fn v0_manages(
    v0: &OlmV0,
    cluster: &TakeOverCluster,
    logs: &Path,
    named: (&str, &ServiceProxy),
) -> Result<Manager> {
    let (operators, package_server) = start_v0(v0, cluster, logs, named).await?;
    Ok(Manager::V0(operators, package_server))
}

/// No status says what v0 would leave as it is.
async fn nothing_is_left<K>(client: &Client, ours: &[&str]) -> Result<()>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize,
{
    let all = Api::<K>::all(client.clone()).list(&ListParams::default()).await?.items;
    ensure!(!all.is_empty(), "there is no {}", K::kind(&()));
    for object in all {
        let value = serde_json::to_value(&object)?;
        let status = &value["status"];
        let conditions = status["conditions"].as_array().into_iter().flatten();
        let kinds = conditions.filter_map(|condition| condition["type"].as_str());
        let stale: Vec<_> = kinds.filter(|kind| ours.contains(kind)).collect();
        let (kind, name) = (K::kind(&()), object.name_any());
        ensure!(stale.is_empty(), "v0 would leave {stale:?} of {kind} {name}");
        let generation = &status["observedGeneration"];
        ensure!(generation.is_null(), "v0 would leave generation {generation} of {kind} {name}");
    }
    Ok(())
}
