//! Two replicas that serve catalogs themselves: both have what the leader recorded, clients notice neither
//! the end of the leader nor that of the registry, what a disk holds is served at once, and who ends serves
//! until no client is led there.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::discovery::v1::{EndpointConditions, EndpointSlice};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use olm_testkit::builders::CatalogDir;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture::Fixture;
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, CONFIGS};
use olm_testkit::operators::{Admin, OLM_NAMESPACE, Operator, Special};
use olm_testkit::process::Running;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use serde_json::json;
use tokio::task::JoinHandle;

use super::leader;
use crate::environment;
use crate::flags::hosted::{bundles_at, kettle};

const NAME: &str = "shelf";
const SLICE: &str = "shelf-olm-rs";

/// Most time from the start of a process to the first answer of a catalog that is on its disk.
const AT_ONCE: Duration = Duration::from_secs(20);

/// The way of one catalog through all of that.
pub async fn hosted(_: Arc<TestContext>) -> Result<()> {
    let fixture = environment::cluster("hosted").await?;
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    let digest = publish(&registry, &["1.0.0"]).await?;
    let first = Replica::start(&fixture, folder.path(), 1, "6Gi").await?;
    create(&fixture, &registry).await?;
    let port = recorded(&fixture, &digest).await?;
    let holder = leader(&fixture.client, Operator::Catalog, "").await?;
    let second = Replica::start(&fixture, folder.path(), 2, "6Gi").await?;
    second.serves(port, 1).await?;

    let readers = Readers::start(second.at(port), 1);
    let pulled = first.folder();
    first.kill();
    leader(&fixture.client, Operator::Catalog, &holder).await?;
    ensure!(readers.end().await? > 0, "nothing was read meanwhile");

    let newer = publish(&registry, &["1.0.0", "1.1.0"]).await?;
    recorded(&fixture, &newer).await?;
    drop(registry);
    // What it had was recorded before; the newer content is out of reach, and what there is goes on.
    let begun = Instant::now();
    let first = Replica::start(&fixture, folder.path(), 1, "6Gi").await?;
    ensure!(first.folder() == pulled, "it has another folder");
    first.serves(port, 1).await?;
    println!("served from the disk after {:.2} s", begun.elapsed().as_secs_f64());
    ensure!(begun.elapsed() < AT_ONCE, "it took {:?}", begun.elapsed());
    second.serves(port, 2).await?;
    serves_until_no_client_is_led_there(&fixture, second, port).await?;
    first.stop();
    fixture.end().await
}

/// Ends the leader, as the rollout of a Deployment does: another leader leads clients away, and no client is
/// turned away before.
async fn serves_until_no_client_is_led_there(
    fixture: &Fixture,
    leader: Replica,
    port: u16,
) -> Result<()> {
    for number in [1, 2] {
        report_pod(fixture, number).await?;
    }
    leads_to(fixture, &[1, 2]).await?;
    let readers = Readers::start(leader.at(port), 2);
    leader.running.ask_to_end();
    let pods: Api<Pod> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    pods.delete(&pod_name(2), &DeleteParams::default()).await?;
    leads_to(fixture, &[1]).await?;
    ensure!(readers.end().await? > 0, "nothing was read meanwhile");
    let code = leader.running.until_ended(wait::TIMEOUT)?;
    ensure!(code == 0, "it ended with code {code}");
    Ok(())
}

/// A catalog-operator with an address and a folder of its own.
struct Replica {
    running: Running,
    admin: Admin,
    address: IpAddr,
    folder: PathBuf,
}

impl Replica {
    async fn start(fixture: &Fixture, folder: &Path, number: u8, size: &str) -> Result<Self> {
        let [.., high, low] = std::process::id().to_be_bytes();
        let address = IpAddr::from([127, 213 + number, high, low.clamp(1, 254)]);
        let folder = folder.join(format!("catalogs-{number}"));
        let args = vec![
            LEADER_ELECT.to_owned(),
            "--catalogs=process".to_owned(),
            format!("--catalogs-address={address}"),
            format!("--catalogs-dir={}", folder.display()),
            format!("--catalogs-dir-size={size}"),
        ];
        let log = format!("catalog-operator-{number}");
        let special = Special { log, args, ..Special::default() };
        let started = fixture.binaries.operator(Operator::Catalog, &fixture.kubeconfig, special);
        let (running, admin) = started.await?;
        admin.until_ready().await?;
        Ok(Self { running, admin, address, folder })
    }

    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, port)
    }

    /// Waits until it serves so many bundles.
    async fn serves(&self, port: u16, bundles: usize) -> Result<()> {
        wait::until_ok("have the content of the catalog", || async {
            let found = bundles_at(self.at(port)).await?;
            ensure!(found.len() == bundles, "it serves {found:?}");
            anyhow::Ok(())
        })
        .await
        .with_context(|| format!("replica at {} of {}", self.address, self.admin.address()))
    }

    fn kill(mut self) {
        self.running.kill();
    }

    fn stop(self) {
        self.running.stop();
    }
}

/// Clients that read a catalog again and again, until they are ended.
struct Readers {
    ended: Arc<AtomicBool>,
    reads: Arc<AtomicUsize>,
    task: JoinHandle<Result<()>>,
}

impl Readers {
    /// They find so many bundles each time.
    fn start(address: SocketAddr, bundles: usize) -> Self {
        let (ended, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (until, count) = (Arc::clone(&ended), Arc::clone(&reads));
        let task = tokio::spawn(async move {
            while !until.load(Ordering::Relaxed) {
                let found = bundles_at(address).await?;
                ensure!(found.len() == bundles, "it serves {found:?}");
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        Self { ended, reads, task }
    }

    /// How often they read; an error when a read failed.
    async fn end(self) -> Result<usize> {
        self.ended.store(true, Ordering::Relaxed);
        self.task.await??;
        Ok(self.reads.load(Ordering::Relaxed))
    }
}

async fn publish(registry: &ImageRegistry, versions: &[&str]) -> Result<String> {
    let content = CatalogDir::of(&[kettle(versions)])?;
    let image = oci::catalog(content.path())?.label(CONFIGS, "/configs").build()?;
    Ok(oci::push(&image, registry.address(), "a/shelf", "v1").await?.digest)
}

async fn create(fixture: &Fixture, registry: &ImageRegistry) -> Result<()> {
    let spec = json!({
        "sourceType": "grpc", "image": format!("{}/a/shelf:v1", registry.address()),
        "updateStrategy": {"registryPoll": {"interval": "1s"}},
    });
    let source = json!({"metadata": {"name": NAME}, "spec": spec});
    let catalogs: Api<CatalogSource> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    catalogs.create(&PostParams::default(), &serde_json::from_value(source)?).await?;
    Ok(())
}

/// Waits until a digest is recorded; says the port.
async fn recorded(fixture: &Fixture, digest: &str) -> Result<u16> {
    let slices: Api<EndpointSlice> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    let is = |slice: &EndpointSlice| {
        slice.annotations().get("olm-rs.dev/catalog-digest").is_some_and(|found| found == digest)
    };
    let slice = wait::until(&slices, SLICE, "say the digest", is).await?;
    let port = slice.ports.iter().flatten().filter_map(|port| port.port).next();
    Ok(u16::try_from(port.context("there is no port")?)?)
}

/// The Pod of a replica: what a node would say of it. No node runs it.
async fn report_pod(fixture: &Fixture, number: u8) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    let security = json!({
        "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let pod = json!({
        "metadata": {"name": pod_name(number), "labels": {"app": "catalog-operator"}},
        "spec": {
            "schedulingGates": [{"name": "example.com/held-back"}],
            "containers": [{"name": "operator", "image": "nothing", "securityContext": security}],
        },
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
    let address = pod_address(number);
    let status = json!({"status": {
        "phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }});
    let once = PatchParams::default();
    pods.patch_status(&pod_name(number), &once, &Patch::Merge(status)).await?;
    Ok(())
}

fn pod_name(number: u8) -> String {
    format!("catalog-operator-{number}")
}

/// No endpoint may have an address of the machine alone, at which replicas of this scenario serve.
fn pod_address(number: u8) -> String {
    format!("10.213.0.{number}")
}

/// Waits until clients are led to the Pods of these replicas and to no other.
async fn leads_to(fixture: &Fixture, replicas: &[u8]) -> Result<()> {
    let slices: Api<EndpointSlice> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    let expected: Vec<String> = replicas.iter().map(|number| pod_address(*number)).collect();
    let leads = |slice: &EndpointSlice| {
        let endpoints = slice.endpoints.iter().flatten();
        let is_ready = |conditions: &EndpointConditions| conditions.ready == Some(true);
        let ready = endpoints.filter(|one| one.conditions.as_ref().is_some_and(is_ready));
        ready.flat_map(|one| one.addresses.clone()).collect::<Vec<_>>() == expected
    };
    wait::until(&slices, SLICE, "lead to these replicas", leads).await.map(drop)
}
