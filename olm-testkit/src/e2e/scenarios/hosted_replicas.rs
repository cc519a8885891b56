//! Two Pods of the operator that serve a catalog themselves, as `deploy/ha` and `deploy/process` have them: that of the
//! leader is deleted while a Pod of another namespace reads through the Service.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::discovery::v1::{EndpointConditions, EndpointSlice};
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::api::CatalogSource;
use serde_json::json;

use super::catalog_images::push;
use super::changed_operator::with_replicas;
use super::hosted_reader::{reads_on, start};
use crate::deploy;
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::operators::Operator;
use crate::wait;

const NAME: &str = "hosted-pair";
const SLICE: &str = "hosted-pair-olm-rs";

/// Connections that a client makes for a read before it gives up.
const CONNECTIONS: usize = 3;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    let about = "who reads a catalog that two Pods of the operator serve loses no read when the Pod of the leader is \
        deleted";
    let needs = [Need::Containers, Need::Workload, Need::Registry, Need::OlmPods];
    vec![
        scenario("hosted::the_leader_is_deleted", about, the_leader_is_deleted)
            .needs(&needs)
            .undisturbed(),
    ]
}

async fn the_leader_is_deleted(ctx: Arc<TestContext>) -> Result<()> {
    let registry = registry_for_pods(&ctx).await?;
    let image = push(&ctx, &["1.0.0"]).await?.replace("example.com", &registry);
    let insecure = format!("--insecure-registries={registry}");
    let flags = ["--catalogs=process", insecure.as_str()];
    let folder = Some("/var/lib/olm-rs/catalogs");
    with_replicas(&ctx, &flags, folder, Box::pin(is_deleted(&ctx, &image))).await?;
    deploy::wait_ready(&ctx.client).await
}

async fn is_deleted(ctx: &TestContext, image: &str) -> Result<()> {
    let catalog = json!({
        "metadata": {"name": NAME},
        "spec": {
            "sourceType": "grpc", "image": image,
            "grpcPodConfig": {"extractContent": {"catalogDir": "/configs"}},
        },
    });
    ctx.create_for_all::<CatalogSource>(catalog).await?;
    wait::until_connected(&ctx.olm_api()?, NAME).await?;
    leads_to_two(ctx, None).await?;
    let before = start(ctx, NAME, CONNECTIONS).await?;

    let (holder, pod) = leader(ctx, "").await?;
    let pods: Api<Pod> = ctx.olm_api()?;
    pods.delete(&pod, &DeleteParams::default()).await.context("cannot delete the leader's Pod")?;
    leader(ctx, &holder).await?;
    reads_on(ctx, &before).await?;
    wait::until_gone(&pods, &pod).await?;
    leads_to_two(ctx, Some(&pod)).await?;

    let after = reads_on(ctx, &before).await?;
    let refused = after.refused - before.refused;
    println!(
        "{} reads, none failed, {refused} connections were refused and made again, the slowest read \
         took {:.3} s",
        after.reads - before.reads,
        after.slowest_seconds
    );
    Ok(())
}

/// The registry, as Pods reach it: at the address of the node, where it is known by an address of that machine alone.
async fn registry_for_pods(ctx: &TestContext) -> Result<String> {
    let registry = ctx.facts().registry.as_deref().context("no registry takes images")?;
    let (_, port) = registry.rsplit_once(':').context("a registry without a port")?;
    let nodes = Api::<Node>::all(ctx.client.clone()).list(&ListParams::default()).await?;
    let statuses = nodes.items.into_iter().filter_map(|node| node.status);
    let mut addresses = statuses.flat_map(|status| status.addresses.unwrap_or_default());
    let internal = addresses.find(|address| address.type_ == "InternalIP");
    let address = internal.context("no node has an address")?.address;
    Ok(format!("{address}:{port}"))
}

/// Who leads, once it is another than `former`: the holder of the Lease, and its Pod.
async fn leader(ctx: &TestContext, former: &str) -> Result<(String, String)> {
    let holder = |lease: &Lease| lease.spec.as_ref()?.holder_identity.clone();
    let is_new =
        |lease: &Lease| holder(lease).is_some_and(|holder| !holder.is_empty() && holder != former);
    let leases: Api<Lease> = ctx.olm_api()?;
    let name = Operator::Catalog.name();
    let lease = wait::until(&leases, name, "have another holder", is_new).await?;
    let holder = holder(&lease).context("the Lease has no holder")?;
    // The name of the host, which is that of the Pod, is the first part.
    let pod = holder.split('_').next().unwrap_or_default().to_owned();
    Ok((holder, pod))
}

/// Waits until clients are led to two Pods, of which none is the one that is gone.
async fn leads_to_two(ctx: &TestContext, gone: Option<&str>) -> Result<()> {
    let leads = |slice: &EndpointSlice| {
        let pods = ready_pods(slice);
        pods.len() == 2 && gone.is_none_or(|gone| !pods.contains(gone))
    };
    let slices: Api<EndpointSlice> = ctx.olm_api()?;
    wait::until(&slices, SLICE, "lead to two Pods", leads).await.map(drop)
}

/// The Pods to which new clients are led.
fn ready_pods(slice: &EndpointSlice) -> BTreeSet<&str> {
    let is_ready = |conditions: &EndpointConditions| conditions.ready == Some(true);
    let ready = slice.endpoints.iter().flatten();
    let ready = ready.filter(|one| one.conditions.as_ref().is_some_and(is_ready));
    ready.filter_map(|one| one.target_ref.as_ref()?.name.as_deref()).collect()
}
