//! Two replicas that serve catalogs themselves: both have what the leader recorded, clients are sent to none that
//! lacks it, notice neither the end of the leader nor that of the registry, what a disk holds is served at once, and
//! who ends serves until no client is led there. The registry wants the credentials of global catalogs.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Secret};
use k8s_openapi::api::discovery::v1::{EndpointConditions, EndpointSlice};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use olm_testkit::builders::CatalogDir;
use olm_testkit::catalog_reader::Reader;
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture::Fixture;
use olm_testkit::oci::server::{ImageRegistry, PASSWORD, USER};
use olm_testkit::oci::{self, CONFIGS};
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use serde_json::json;
use tokio::task::JoinHandle;

use super::leader;
use super::replica::{PULL_SECRET, Replica, pod_address, pod_name, report_pod};
use crate::environment;
use crate::faulty_registry::{Fault, FaultyRegistry};
use crate::flags::hosted::{bundles_at, kettle};
use crate::readiness;

const NAME: &str = "shelf";
const SLICE: &str = "shelf-olm-rs";

/// Most time from the start of a process to the first answer of a catalog that is on its disk.
const AT_ONCE: Duration = Duration::from_secs(20);

/// Most seconds of that from the disk to a port that answers.
const FROM_THE_DISK: f64 = 1.0;

/// The way of one catalog through all of that.
pub async fn hosted(_: Arc<TestContext>) -> Result<()> {
    let fixture = environment::cluster("hosted").await?;
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let images = ImageRegistry::start(folder.path(), false).await?;
    let guarded = ImageRegistry::start(folder.path(), true).await?;
    let registry = FaultyRegistry::start(guarded.address()).await?;
    give_secret(&fixture, registry.address()).await?;
    let digest = publish(&images, &["1.0.0"]).await?;
    let first = Replica::start(&fixture, folder.path(), 1).await?;
    create(&fixture, registry.address()).await?;
    let port = recorded(&fixture, &digest).await?;
    let holder = leader(&fixture.client, Operator::Catalog, "").await?;
    let second = joins_once_it_serves(&fixture, folder.path(), (&first, &registry), port).await?;

    let pulled = first.folder();
    is_killed(&fixture, (first, &holder), (&second, port)).await?;

    let newer = publish(&images, &["1.0.0", "1.1.0"]).await?;
    recorded(&fixture, &newer).await?;
    second.serves(port, 2).await?;
    registry.set(Fault::Away);
    let begun = Instant::now();
    let first = Replica::start(&fixture, folder.path(), 1).await?;
    ensure!(first.folder() == pulled, "it has another folder");
    first.serves(port, 1).await?;
    println!("served {:.2} s after the start of the process", begun.elapsed().as_secs_f64());
    ensure!(begun.elapsed() < AT_ONCE, "it took {:?}", begun.elapsed());
    let seconds = first.seconds_from_the_disk().await?;
    println!("of which the disk took {seconds:.3} s");
    ensure!(seconds < FROM_THE_DISK, "the disk took {seconds} s");
    // The newer content is out of its reach: clients, who would get the older one, are sent to the other replica.
    second.heard(1, "Other").await?;
    leads_to(&fixture, &[2]).await?;
    second.serves(port, 2).await?;
    registry.set(Fault::Nothing);
    first.serves(port, 2).await?;
    serves_until_no_client_is_led_there(&fixture, second, port).await?;
    first.stop();
    readiness::note(&fixture.cluster().audit_log())?;
    fixture.end().await
}

/// A second replica that cannot pull the catalog is ready, and no client is sent there until it has it.
async fn joins_once_it_serves(
    fixture: &Fixture,
    folder: &Path,
    (first, registry): (&Replica, &FaultyRegistry),
    port: u16,
) -> Result<Replica> {
    report_pod(fixture, 1).await?;
    leads_to(fixture, &[1]).await?;
    registry.set(Fault::Away);
    let second = Replica::start(fixture, folder, 2).await?;
    report_pod(fixture, 2).await?;
    first.heard(2, "Other").await?;
    leads_to(fixture, &[1]).await?;
    registry.set(Fault::Nothing);
    second.serves(port, 1).await?;
    leads_to(fixture, &[1, 2]).await?;
    Ok(second)
}

/// The leader is killed. Clients of the other replica notice nothing, those of both lose at most the call that is under
/// way, and the next leader leads none to the dead one, whatever is said of its Pod.
async fn is_killed(
    fixture: &Fixture,
    (first, holder): (Replica, &str),
    (second, port): (&Replica, u16),
) -> Result<()> {
    let readers = Readers::start(second.at(port), 1);
    let both = [first.at(port), second.at(port)];
    let both = Reader::start(&fixture.binaries, "both", &both).await?;
    first.kill();
    leader(&fixture.client, Operator::Catalog, holder).await?;
    leads_to(fixture, &[2]).await?;
    ensure!(readers.end().await? > 0, "nothing was read meanwhile");
    let reads = both.end().await?;
    ensure!(reads.reads > 0 && reads.failed <= 1, "clients of both saw {reads:?}");
    Ok(())
}

/// Ends the leader, as the rollout of a Deployment does: another leader leads clients away, and no client is
/// turned away before.
async fn serves_until_no_client_is_led_there(
    fixture: &Fixture,
    leader: Replica,
    port: u16,
) -> Result<()> {
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

/// What an administrator gives for global catalogs: without it the registry refuses every pull.
async fn give_secret(fixture: &Fixture, registry: &str) -> Result<()> {
    let auths = json!({"auths": {registry: {"username": USER, "password": PASSWORD}}});
    let secret = json!({
        "metadata": {"name": PULL_SECRET}, "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": auths.to_string()},
    });
    let secrets: Api<Secret> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    let made = secrets.create(&PostParams::default(), &serde_json::from_value(secret)?).await;
    made.map(drop).context("no pull secret")
}

async fn publish(registry: &ImageRegistry, versions: &[&str]) -> Result<String> {
    let content = CatalogDir::of(&[kettle(versions)])?;
    let image = oci::catalog(content.path())?.label(CONFIGS, "/configs").build()?;
    Ok(oci::push(&image, registry.address(), "a/shelf", "v1").await?.digest)
}

async fn create(fixture: &Fixture, registry: &str) -> Result<()> {
    let spec = json!({
        "sourceType": "grpc", "image": format!("{registry}/a/shelf:v1"),
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
