//! Steps of these scenarios.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::e2e::TestContext;
use olm_testkit::operators::Binaries;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use serde_json::{Value, json};

/// Where every registry serves.
pub const PORT: u16 = 50_051;

/// The programs of this build, with their logs in a folder.
pub fn binaries(logs: &Path) -> Result<Binaries> {
    Binaries::beside_this_executable(logs)
}

/// Creates a CatalogSource with this spec.
pub async fn create(ctx: &TestContext, name: &str, spec: Value) -> Result<CatalogSource> {
    let metadata = json!({"name": name, "namespace": ctx.namespace});
    let source = json!({"metadata": metadata, "spec": spec});
    ctx.create(&serde_json::from_value::<CatalogSource>(source)?).await
}

/// Waits for the Service, and gives its address.
pub async fn address(ctx: &TestContext, name: &str) -> Result<SocketAddr> {
    let services: Api<Service> = ctx.api();
    let service =
        wait::until(&services, name, "have an address", |service| ip(service).is_some()).await?;
    let ip = ip(&service).context("a Service without address")?;
    Ok(SocketAddr::new(ip, PORT))
}

fn ip(service: &Service) -> Option<IpAddr> {
    service.spec.as_ref()?.cluster_ip.as_deref()?.parse().ok()
}

/// Waits until the catalog is connected.
pub async fn ready(ctx: &TestContext, name: &str) -> Result<CatalogSource> {
    wait::until(&ctx.api(), name, "be READY", |catalog: &CatalogSource| {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        state.is_some_and(|state| state.last_observed_state == "READY")
    })
    .await
}

/// Waits for a Pod with this label that runs and that `suits`.
pub async fn pod(
    ctx: &TestContext,
    label: &str,
    catalog: &str,
    suits: impl Fn(&Pod) -> bool,
) -> Result<Pod> {
    let fields = format!("metadata.namespace={}", ctx.namespace);
    wait::until_some(&ctx.api(), &fields, "serve the catalog", |pod: &Pod| {
        let labelled = pod.labels().get(label).is_some_and(|found| found == catalog);
        let runs = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let stays = pod.metadata.deletion_timestamp.is_none();
        labelled && runs == Some("Running") && stays && suits(pod)
    })
    .await
}

/// Says what a node would say about a Pod.
pub async fn report(ctx: &TestContext, pod: &str, status: Value) -> Result<()> {
    let pods: Api<Pod> = ctx.api();
    let patch = Patch::Strategic(json!({ "status": status }));
    let patched = pods.patch_status(pod, &PatchParams::default(), &patch).await;
    patched.map(drop).context("cannot report for a node")
}
