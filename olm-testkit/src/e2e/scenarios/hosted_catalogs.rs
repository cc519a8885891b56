//! A catalog that the operator serves itself, and a Pod of another namespace that reads it.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use olm_types::api::CatalogSource;
use serde_json::{Value, json};

use super::catalog_images::push;
use super::changed_operator::{while_permitted, with_flags};
use super::hosted_reader::{ReaderReport, reads_on, start};
use crate::deploy;
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::wait;

const NAME: &str = "hosted-shelf";
const SLICE: &str = "hosted-shelf-olm-rs";

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    let about = "who reads a catalog does not notice that a flag has the operator take it over from a Pod, and that a \
        Pod takes it back";
    let needs = [Need::Containers, Need::Workload, Need::Registry, Need::OlmPods];
    vec![
        scenario("hosted::readers_notice_nothing", about, readers_notice_nothing)
            .needs(&needs)
            .undisturbed(),
    ]
}

/// The flag has the operator take the catalog over while the operator is rolled out, the annotation gives it back, and
/// then the flag goes.
async fn readers_notice_nothing(ctx: Arc<TestContext>) -> Result<()> {
    while_permitted(&ctx, Box::pin(reads_throughout(&ctx))).await
}

async fn reads_throughout(ctx: &TestContext) -> Result<()> {
    create(ctx).await?;
    wait::until_connected(&ctx.olm_api()?, NAME).await?;
    let service = service(ctx).await?;
    let before = start(ctx, NAME, 1).await?;
    let (flags, folder) = (["--catalogs=process"], Some("/var/lib/olm-rs/catalogs"));
    let steps = Box::pin(there_and_back(ctx, &before, &service));
    with_flags(ctx, &flags, folder, steps).await?;
    deploy::wait_ready(&ctx.client).await?;
    let after = reads_on(ctx, &before).await?;
    println!("{} reads, the slowest took {:.3} s", after.reads, after.slowest_seconds);
    Ok(())
}

async fn there_and_back(ctx: &TestContext, before: &ReaderReport, service: &Value) -> Result<()> {
    wait::until(&ctx.olm_api()?, SLICE, "lead to the operator", |_: &EndpointSlice| true).await?;
    until_no_pods(ctx).await?;
    reads_on(ctx, before).await?;

    annotate(ctx, json!("pod")).await?;
    wait::until_gone(&ctx.olm_api::<EndpointSlice>()?, SLICE).await?;
    reads_on(ctx, before).await?;
    let restored = self::service(ctx).await?;
    ensure!(restored == *service, "the Service was {service}, and is {restored}");
    Ok(())
}

/// In OLM's namespace, served by a Pod.
async fn create(ctx: &TestContext) -> Result<()> {
    let registry = ctx.facts().registry.as_deref().context("no registry takes images")?;
    let image = push(ctx, &["1.0.0"]).await?.replace("example.com", registry);
    let catalog = json!({
        "metadata": {"name": NAME},
        "spec": {
            "sourceType": "grpc", "image": image,
            "grpcPodConfig": {"extractContent": {"catalogDir": "/configs"}},
        },
    });
    ctx.create_for_all::<CatalogSource>(catalog).await.map(drop)
}

/// What was written of the catalog's Service.
async fn service(ctx: &TestContext) -> Result<Value> {
    let service = ctx.olm_api::<Service>()?.get(NAME).await?;
    let (meta, spec) = (&service.metadata, &service.spec);
    Ok(json!([meta.uid, meta.labels, meta.annotations, meta.owner_references, spec]))
}

async fn annotate(ctx: &TestContext, value: Value) -> Result<()> {
    let patch = json!({"metadata": {"annotations": {"olm-rs.dev/served-by": value}}});
    let catalogs: Api<CatalogSource> = ctx.olm_api()?;
    catalogs.patch(NAME, &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

async fn until_no_pods(ctx: &TestContext) -> Result<()> {
    let pods: Api<Pod> = ctx.olm_api()?;
    let of_catalog = ListParams::default().labels(&format!("olm.catalogSource={NAME}"));
    for pod in pods.list(&of_catalog).await? {
        wait::until_gone(&pods, &pod.name_any()).await?;
    }
    Ok(())
}
