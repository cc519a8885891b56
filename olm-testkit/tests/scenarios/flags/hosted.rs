//! `--catalogs=process`: the operator pulls catalog images, serves them itself, and hands them over to
//! Pods and back.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use olm_catalog::connection::{CatalogConnection, ConnectionState};
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_testkit::builders::{Bundle, Package, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, CONFIGS, Image};
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use olm_types::conditions::catalog_source::{CONTENT_CURRENT, IMAGE_POLLED, SERVED_IN_PROCESS};
use olm_types::conditions::readiness::READY;
use serde_json::{Value, json};

use super::hosted_steps::{catalog, push, says};
use crate::catalog_servers::steps::{create, pod, ready};

pub(super) const NAME: &str = "shelf";
const SLICE: &str = "shelf-olm-rs";
const CATALOG_SOURCE: &str = olm_types::labels::CATALOG_SOURCE;

/// From a CatalogSource to an installed operator without a Pod, an upgrade by a newer image, and what
/// becomes of images that cannot be used. The registry is asked every second, which writes nothing.
pub async fn serves_catalogs(ctx: Arc<TestContext>) -> Result<()> {
    let registry = OneImageRegistry::open(&ctx).await?;
    let first = registry.publish(&["1.0.0"]).await?;
    ctx.operator_group().await?;
    create(&ctx, NAME, registry.spec()).await?;
    let catalog = ready(&ctx, NAME).await?;
    check_status(&ctx, &catalog)?;
    let port = recorded(&ctx, &first).await?;
    ensure!(registry.read(port).await? == ["kettle.v1.0.0"], "another catalog is served");
    no_pods(&ctx).await?;
    ctx.subscribe("kettle", NAME).await?;
    ctx.succeeded("kettle.v1.0.0").await?;

    let second = registry.publish(&["1.0.0", "1.1.0"]).await?;
    recorded(&ctx, &second).await?;
    ctx.succeeded("kettle.v1.1.0").await?;
    ensure!(registry.read(port).await?.len() == 2, "the former catalog is served");

    registry
        .push(Image::builder().file("/configs/a.json", "{", 0o644).label(CONFIGS, "/configs"))
        .await?;
    condition(&ctx, CONTENT_CURRENT, "CatalogInvalid").await?;
    ensure!(registry.read(port).await?.len() == 2, "what was there does not stay");
    registry.publish(&["1.0.0", "1.1.0"]).await?;
    no_condition(&ctx, CONTENT_CURRENT).await?;

    let address = registry.registry.address().to_owned();
    drop(registry);
    // The connection that was there ends in another way.
    let refused = (IMAGE_POLLED, "RegistryUnavailable", "Connection refused");
    says(&ctx, NAME, refused).await?;
    ensure!(read(port).await?.len() == 2, "a registry that is away takes the catalog with it");
    let described = format!("the registry {address} cannot be reached");
    let said = message(&ready(&ctx, NAME).await?, IMAGE_POLLED).unwrap_or_default();
    ensure!(said.starts_with(&described) && said.contains("what was pulled at"), "{said}");
    Ok(())
}

/// From the operator to a Pod and back, and images that only a Pod can serve.
pub async fn gives_way_to_pods(ctx: Arc<TestContext>) -> Result<()> {
    let registry = OneImageRegistry::open(&ctx).await?;
    let digest = registry.publish(&["1.0.0"]).await?;
    create(&ctx, NAME, registry.spec()).await?;
    let port = recorded(&ctx, &digest).await?;
    ensure!(selector(&ctx).await?.is_none(), "the Service selects Pods");

    annotate(&ctx, json!("pod")).await?;
    let serving = pod(&ctx, CATALOG_SOURCE, NAME, |_| true).await?.name_any();
    wait::until_gone(&ctx.api::<EndpointSlice>(), SLICE).await?;
    ensure!(selector(&ctx).await?.is_some(), "the Service selects no Pods");
    annotate(&ctx, Value::Null).await?;
    recorded(&ctx, &digest).await?;
    wait::until_gone(&ctx.api::<Pod>(), &serving).await?;
    let slices = ctx.api::<EndpointSlice>().list(&ListParams::default()).await?;
    let names: Vec<_> = slices.iter().map(ResourceExt::name_any).collect();
    ensure!(names == [SLICE], "endpoints of others are left: {names:?}");
    ensure!(registry.read(port).await? == ["kettle.v1.0.0"], "it is not served again");

    // No catalog of files: a Pod serves it, and the status says why.
    registry.push(Image::builder().file("/bin/server", "#!", 0o755)).await?;
    condition(&ctx, SERVED_IN_PROCESS, "NotFileBased").await?;
    pod(&ctx, CATALOG_SOURCE, NAME, |_| true).await?;
    registry.publish(&["1.0.0"]).await?;
    no_condition(&ctx, SERVED_IN_PROCESS).await?;
    ready(&ctx, NAME).await?;
    wait::until_ok("has no Pods", || no_pods(&ctx)).await?;
    ctx.keep((registry.registry, registry.folder)).await;
    Ok(())
}

/// A registry with one image.
struct OneImageRegistry {
    ctx: Arc<TestContext>,
    registry: ImageRegistry,
    folder: tempfile::TempDir,
}

impl OneImageRegistry {
    async fn open(ctx: &Arc<TestContext>) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let registry = ImageRegistry::start(folder.path(), false).await?;
        Ok(Self { ctx: Arc::clone(ctx), registry, folder })
    }

    fn spec(&self) -> Value {
        json!({
            "sourceType": "grpc", "image": format!("{}/a/shelf:v1", self.registry.address()),
            "updateStrategy": {"registryPoll": {"interval": "1s"}},
        })
    }

    /// Puts a catalog with these versions of one operator in the place of the image; says its digest.
    async fn publish(&self, versions: &[&str]) -> Result<String> {
        self.push(catalog(&self.ctx, versions)?).await
    }

    async fn push(&self, image: oci::ImageBuilder) -> Result<String> {
        push(image, self.registry.address(), "a/shelf").await
    }

    async fn read(&self, port: u16) -> Result<Vec<String>> {
        read(port).await
    }
}

/// Versions that replace each other.
pub fn kettle(versions: &[&str]) -> Package {
    let bundles = versions.iter().scan(None::<String>, |before, version| {
        let name = format!("kettle.v{version}");
        let bundle = Bundle::new(version, &csv(&name, version).deployment("kettle", "default"));
        Some(match before.replace(name) {
            Some(old) => bundle.replaces(&old),
            None => bundle,
        })
    });
    Package::new("kettle").channel("stable", bundles.collect())
}

/// Names of the bundles that a gRPC client finds at a port of the operator.
async fn read(port: u16) -> Result<Vec<String>> {
    bundles_at(SocketAddr::new(super::address(), port)).await
}

/// Names of the bundles that a gRPC client finds.
pub async fn bundles_at(address: SocketAddr) -> Result<Vec<String>> {
    let key = CatalogKey::new("", "client");
    let client = RegistryClient::open(key, &address.to_string(), ClientOptions::default())?;
    let mut status = client.status();
    let ready = status.wait_for(|status| status.state == ConnectionState::Ready);
    tokio::time::timeout(wait::TIMEOUT, ready).await.context("no server answers")??;
    let snapshot = client.load().await?;
    Ok(snapshot.entries().iter().map(|entry| entry.name.to_string()).collect())
}

fn check_status(ctx: &TestContext, catalog: &CatalogSource) -> Result<()> {
    let status = catalog.status.clone().unwrap_or_default();
    let expected = format!("{NAME}.{}.svc:50051", ctx.namespace);
    let address = status.connection_state.and_then(|state| state.address);
    ensure!(address.as_deref() == Some(expected.as_str()), "connected to {address:?}");
    let fine = status.conditions.iter().all(|one| one.type_ == READY && one.status == "True");
    ensure!(status.reason.is_none() && fine, "{:?}", status.conditions);
    Ok(())
}

/// Waits until a digest is recorded; says the port.
pub(super) async fn recorded(ctx: &TestContext, digest: &str) -> Result<u16> {
    let is = |slice: &EndpointSlice| {
        slice.annotations().get("olm-rs.dev/catalog-digest").is_some_and(|found| found == digest)
    };
    let slice = wait::until(&ctx.api(), SLICE, "say the digest", is).await?;
    let port = slice.ports.iter().flatten().filter_map(|port| port.port).next();
    Ok(u16::try_from(port.context("there is no port")?)?)
}

pub(super) async fn no_pods(ctx: &TestContext) -> Result<()> {
    let pods = ctx.api::<Pod>().list(&ListParams::default().labels(CATALOG_SOURCE)).await?;
    ensure!(pods.items.is_empty(), "a Pod serves a catalog");
    Ok(())
}

async fn selector(ctx: &TestContext) -> Result<Option<Value>> {
    let service: Service = ctx.api().get(NAME).await?;
    let selector = service.spec.and_then(|spec| spec.selector).filter(|all| !all.is_empty());
    Ok(selector.map(|selector| json!(selector)))
}

async fn annotate(ctx: &TestContext, value: Value) -> Result<()> {
    let patch = json!({"metadata": {"annotations": {"olm-rs.dev/served-by": value}}});
    let catalogs: Api<CatalogSource> = ctx.api();
    catalogs.patch(NAME, &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

pub(super) async fn condition(ctx: &TestContext, kind: &str, reason: &str) -> Result<()> {
    let has = |catalog: &CatalogSource| {
        let conditions = catalog.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().any(|found| found.type_ == kind && found.reason == reason)
    };
    wait::until(&ctx.api(), NAME, &format!("say {reason}"), has).await.map(drop)
}

pub(super) async fn no_condition(ctx: &TestContext, kind: &str) -> Result<()> {
    let lacks = |catalog: &CatalogSource| message(catalog, kind).is_none();
    wait::until(&ctx.api(), NAME, &format!("say no more {kind}"), lacks).await.map(drop)
}

pub(super) fn message(catalog: &CatalogSource, kind: &str) -> Option<String> {
    let mut conditions = catalog.status.iter().flat_map(|status| &status.conditions);
    conditions.find(|found| found.type_ == kind).map(|found| found.message.clone())
}
