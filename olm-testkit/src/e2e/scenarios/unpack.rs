//! Bundles in images: built here, pushed, unpacked by a Job that really runs, and by the operator
//! itself.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams};
use olm_types::api::{InstallPlan, Subscription};
use olm_types::hash::unpack_name;
use serde_json::Value;
use tokio::time::Instant;

use super::changed_operator;
use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::conditions;
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::oci::{self, Image, Pushed};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    let needs = [Need::Containers, Need::Workload, Need::Registry];
    vec![
        scenario(
            "unpack::a_bundle_image",
            "a bundle comes out of its image by a Job that runs, a missing image is reported",
            a_bundle_image,
        )
        .needs(&needs),
        scenario(
            "unpack::by_the_operator",
            "a bundle comes out of its image without a Pod",
            by_the_operator,
        )
        .needs(&[Need::Containers, Need::Workload, Need::Registry, Need::OlmPods])
        .exclusive(),
    ]
}

/// Subscription, Job, InstallPlan, CSV; beside it an image that is not there, which the condition
/// names.
async fn a_bundle_image(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let pushed = push(&ctx, "kettle").await?;
    subscribe(&ctx, "kettle", &pushed.pinned()).await?;
    let begin = Instant::now();
    let jobs: Api<Job> = ctx.api();
    let name = unpack_name(&pushed.pinned());
    wait::until(&jobs, &name, "be complete", |job: &Job| {
        job.status.as_ref().is_some_and(|status| status.succeeded == Some(1))
    })
    .await?;
    unpacked(&ctx, begin, "a Job").await?;
    let map: ConfigMap = ctx.api().get(&name).await?;
    let encoding = map.metadata.annotations.unwrap_or_default().remove("olm.contentEncoding");
    ensure!(encoding.as_deref() == Some("gzip+base64"), "{encoding:?}");
    ctx.succeeded("kettle.v1.0.0").await?;
    let missing = pushed.reference.replace(":v1", ":v2");
    ctx.publish("kitchen", &[package("kettle", &pushed.pinned()), package("spoon", &missing)])
        .await?;
    ctx.subscribe("spoon", "kitchen").await?;
    wait::until(&ctx.api(), "spoon", "name the image", |subscription: &Subscription| {
        conditions(subscription).iter().any(|condition| {
            let message = condition.message.as_deref().unwrap_or_default();
            condition.type_ == "BundleUnpacking" && message.contains(&missing)
        })
    })
    .await
    .map(drop)
}

/// The same with `--bundle-unpack=process`: there is no Job.
async fn by_the_operator(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let pushed = push(&ctx, "ladle").await?;
    let steps = async {
        subscribe(&ctx, "ladle", &pushed.pinned()).await?;
        unpacked(&ctx, Instant::now(), "the operator").await?;
        let jobs: Api<Job> = ctx.api();
        ensure!(jobs.list(&ListParams::default()).await?.items.is_empty(), "there is a Job");
        ctx.succeeded("ladle.v1.0.0").await.map(drop)
    };
    changed_operator::during(&ctx, &["--bundle-unpack=process"], None, steps).await
}

/// The image of an operator that runs.
pub(super) async fn push(ctx: &TestContext, name: &str) -> Result<Pushed> {
    let registry = ctx.facts().registry.as_deref().context("no registry")?;
    let image =
        bundle(name).files(name).into_iter().fold(Image::builder(), |image, (path, text)| {
            let text = match serde_json::from_str::<Value>(&text) {
                Ok(manifest) => ctx.dressed(manifest).to_string(),
                Err(_) => text,
            };
            image.file(&format!("/{path}"), text, 0o644)
        });
    oci::push(&image.build()?, registry, &format!("bundles/{name}"), "v1").await
}

async fn subscribe(ctx: &TestContext, name: &str, image: &str) -> Result<()> {
    ctx.catalog("kitchen", &[package(name, image)]).await?;
    ctx.subscribe(name, "kitchen").await
}

/// Waits for the InstallPlan, and says how long that took since `begin`.
async fn unpacked(ctx: &TestContext, begin: Instant, by: &str) -> Result<()> {
    let fields = format!("metadata.namespace={}", ctx.namespace);
    let plan = wait::until_some(&ctx.api(), &fields, "hold a bundle", |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| !status.bundle_lookups.is_empty())
    })
    .await?;
    println!("unpacked by {by} in {:.1} s", begin.elapsed().as_secs_f64());
    let steps = plan.status.map(|status| status.plan).unwrap_or_default();
    let manifests = steps.iter().filter_map(|step| step.resource.manifest.as_deref());
    let referring = manifests.filter(|text| text.starts_with("{\"kind\":\"ConfigMap\"")).count();
    ensure!(referring == steps.len(), "{referring} of {} steps refer to it", steps.len());
    Ok(())
}

fn package(name: &str, image: &str) -> Package {
    Package::single(name, bundle(name).in_image(image))
}

fn bundle(name: &str) -> Bundle {
    Bundle::new("1.0.0", &csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default"))
}
