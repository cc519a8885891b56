//! Bundles that live in images, unpacked by Jobs whose Pods the test plays.
//!
//! Nothing runs on the node of this cluster, and what would run is done here: the last container
//! of a Pod by the program of our image, with the rights that the Job's account has; the kubelet's
//! reports by writing them. The Job controller is the real one, so deadlines are.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use olm_testkit::builders::{Bundle, Crd, Package, csv};
use olm_testkit::built_programs;
use olm_testkit::e2e::TestContext;
use olm_testkit::kubelet::Kubelet;
use olm_testkit::wait;
use olm_types::api::{InstallPlan, OperatorGroup, Subscription, SubscriptionCondition};
use olm_types::hash::unpack_name;
use serde_json::{Value, json};

/// A reference that no test pulls.
pub const IMAGE: &str = "bundles.example.com/kettle:v1";

/// Subscription, Job, ConfigMap, InstallPlan, CSV: each as v0 has it.
pub async fn by_a_job(ctx: Arc<TestContext>) -> Result<()> {
    let kubelet = kubelet(&ctx).await?;
    subscribe(&ctx, "kettle.v1.0.0", IMAGE).await?;
    let job = job(&ctx, IMAGE).await?;
    reported(&ctx, "BundleUnpacking", |message| message.is_empty()).await?;
    check_account(&ctx, &job).await?;
    kubelet.extract(&bundle(&ctx, "kettle.v1.0.0"), "kettle", IMAGE).await?;
    kubelet.end().await?;
    kubelet.complete(&job).await?;
    let plan = plan(&ctx).await?;
    check_plan(&plan)?;
    ctx.succeeded("kettle.v1.0.0").await?;
    let subscription: Subscription = ctx.api().get("kettle").await?;
    let conditions = subscription.status.unwrap_or_default().conditions;
    ensure!(!conditions.iter().any(|c| c.type_.contains("Unpack")), "{conditions:?}");
    Ok(())
}

/// What the kubelet says about an image outlives the Pod: it is in the condition when the Job has
/// run out of time. A Pod of another namespace with the labels of that one says nothing.
pub async fn causes_are_reported(ctx: Arc<TestContext>) -> Result<()> {
    let other = ctx.beside("unpack::causes_elsewhere").await?;
    let elsewhere = kubelet(&other).await?;
    let kubelet = kubelet(&ctx).await?;
    annotate(&ctx, json!({"operatorframework.io/bundle-unpack-timeout": "4s"})).await?;
    subscribe(&ctx, "kettle.v1.0.0", IMAGE).await?;
    let job = job(&ctx, IMAGE).await?;
    ctx.conclude_refused_plans().await?;
    let seconds = job.spec.as_ref().and_then(|spec| spec.active_deadline_seconds);
    ensure!(seconds == Some(4), "the Job has {seconds:?} seconds");
    let (cause, forged) = ("manifest for kettle:v1 not found", "something else is wrong");
    elsewhere.cannot_pull(&job, forged).await?;
    kubelet.cannot_pull(&job, cause).await?;
    let says = |text: &str| text.contains(cause) && !text.contains(forged);
    let v0 = "Bundle image pull failed. Common causes: Missing ICSP";
    reported(&ctx, "BundleUnpacking", |text| text.starts_with(v0) && says(text)).await?;
    let v0 = "Bundle unpacking failed - DeadlineExceeded: Job was active longer than specified \
              deadline. Auto-retry in ~5 min after job cleanup (TTL). ";
    reported(&ctx, "BundleUnpackFailed", |text| text.starts_with(v0) && says(text)).await?;
    ensure!(ctx.api::<InstallPlan>().list(&ListParams::default()).await?.items.is_empty());
    kubelet.end().await
}

/// A Job that failed is followed by another after the interval that the OperatorGroup names, and by
/// a first one again when it is gone.
pub async fn retries(ctx: Arc<TestContext>) -> Result<()> {
    let kubelet = kubelet(&ctx).await?;
    subscribe(&ctx, "kettle.v1.0.0", IMAGE).await?;
    let first = job(&ctx, IMAGE).await?;
    kubelet
        .fail(&first, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        .await?;
    let v0 = "Bundle unpacking failed - BackoffLimitExceeded: Job has reached the specified \
              backoff limit. Auto-retry";
    reported(&ctx, "BundleUnpackFailed", |text| text.starts_with(v0)).await?;
    // As its time to live does.
    let jobs: Api<Job> = ctx.api();
    jobs.delete(&first.name_any(), &DeleteParams::background()).await?;
    let second = wait::until(&jobs, &first.name_any(), "be made again", |job: &Job| {
        job.metadata.uid != first.metadata.uid
    })
    .await?;
    kubelet.fail(&second, "BackoffLimitExceeded", "again").await?;
    annotate(&ctx, json!({"operatorframework.io/bundle-unpack-min-retry-interval": "1s"})).await?;
    let third = another(&jobs, &in_namespace(&ctx), &second).await?;
    let prefix: String = first.name_any().chars().take(58).collect();
    ensure!(third.name_any().starts_with(&prefix), "{}", third.name_any());
    kubelet.extract(&bundle(&ctx, "kettle.v1.0.0"), "kettle", IMAGE).await?;
    kubelet.end().await?;
    kubelet.complete(&third).await?;
    ctx.succeeded("kettle.v1.0.0").await.map(drop)
}

/// An image that holds another bundle than its catalog says is refused, and that is reported.
pub async fn another_bundle(ctx: Arc<TestContext>) -> Result<()> {
    let kubelet = kubelet(&ctx).await?;
    subscribe(&ctx, "kettle.v1.0.0", IMAGE).await?;
    let job = job(&ctx, IMAGE).await?;
    ctx.conclude_refused_plans().await?;
    kubelet.extract(&bundle(&ctx, "impostor.v1.0.0"), "kettle", IMAGE).await?;
    kubelet.complete(&job).await?;
    reported(&ctx, "BundleUnpackFailed", |text| text.contains("holds impostor.v1.0.0")).await?;
    kubelet.end().await
}

/// Of many bundles in images a namespace has some unpacked at a time: each takes a Pod, beside those of other
/// namespaces. Those that are asked for later wait, though they come first in the order of names; one that
/// has failed is followed by the next.
pub async fn so_many_at_a_time(ctx: Arc<TestContext>) -> Result<()> {
    let kubelet = kubelet(&ctx).await?;
    let names: Vec<String> = (0..AT_ONCE + 4).map(|number| format!("kettle{number:02}")).collect();
    let package = |name: &String| {
        let operator = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
        let image = format!("bundles.example.com/{name}:v1");
        Package::single(name, Bundle::new("1.0.0", &operator).in_image(&image))
    };
    ctx.catalog("kitchen", &[]).await?;
    let (later, first) = names.split_at(4);
    for name in first {
        ctx.subscribe(name, "kitchen").await?;
    }
    ctx.publish("kitchen", &names.iter().map(package).collect::<Vec<_>>()).await?;
    ctx.subscribe_together().await;
    let begun = begun_and_no_more(&ctx, AT_ONCE).await?;
    for name in later {
        ctx.subscribe(name, "kitchen").await?;
    }
    begun_and_no_more(&ctx, AT_ONCE).await?;
    let failed = begun.first().context("no Job")?;
    kubelet.fail(failed, "BackoffLimitExceeded", "Job has reached the limit").await?;
    // No Pod comes to the end: Jobs that are done would let others begin.
    begun_and_no_more(&ctx, AT_ONCE + 1).await.map(drop)
}

/// The Jobs of the namespace, once there are so many and nothing is written any more.
async fn begun_and_no_more(ctx: &TestContext, count: usize) -> Result<Vec<Job>> {
    let jobs: Api<Job> = ctx.api();
    let made = || async { anyhow::Ok(jobs.list(&ListParams::default()).await?.items) };
    wait::until_ok("so many Jobs", || async {
        let made = made().await?.len();
        ensure!(made >= count, "{made} Jobs");
        anyhow::Ok(())
    })
    .await?;
    ctx.until_idle().await?;
    let made = made().await?;
    ensure!(made.len() == count, "{} Jobs where {count} are expected", made.len());
    Ok(made)
}

/// Bundles in images of one namespace that are unpacked at the same time.
const AT_ONCE: usize = 16;

/// The OperatorGroup, and nothing that runs by itself.
pub async fn kubelet(ctx: &TestContext) -> Result<Kubelet> {
    ctx.operator_group().await?;
    let (kubeconfig, program) = (ctx.kubeconfig().await?, built_programs()?.join("olm-registry"));
    Kubelet::begin(&ctx.client, &ctx.namespace, kubeconfig, program).await
}

fn kettles(ctx: &TestContext) -> Crd {
    ctx.kind("Kettle")
}

/// The operator in the image.
pub fn bundle(ctx: &TestContext, name: &str) -> Bundle {
    let pods = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let csv = csv(name, "1.0.0")
        .owns(&kettles(ctx))
        .deployment("kettle", "kettle")
        .permission("kettle", pods);
    Bundle::new("1.0.0", &csv).provides(&kettles(ctx))
}

pub async fn subscribe(ctx: &TestContext, name: &str, image: &str) -> Result<()> {
    let bundle = bundle(ctx, name).in_image(image);
    ctx.catalog("kitchen", &[Package::single("kettle", bundle)]).await?;
    ctx.subscribe("kettle", "kitchen").await.map(drop)
}

pub async fn annotate(ctx: &TestContext, annotations: Value) -> Result<()> {
    let groups: Api<OperatorGroup> = ctx.api();
    let group = groups.list(&ListParams::default()).await?.items.pop().context("no group")?;
    let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
    groups.patch(&group.name_any(), &PatchParams::default(), &patch).await?;
    Ok(())
}

pub async fn job(ctx: &TestContext, image: &str) -> Result<Job> {
    wait::until(&ctx.api(), &unpack_name(image), "be made", |_: &Job| true).await
}

/// The Job beside `known`.
async fn another(jobs: &Api<Job>, fields: &str, known: &Job) -> Result<Job> {
    let another = |job: &Job| job.metadata.uid != known.metadata.uid;
    wait::until_some(jobs, fields, "be made beside the failed one", another).await
}

/// Waits until the Subscription says something under a condition.
pub async fn reported(ctx: &TestContext, kind: &str, says: impl Fn(&str) -> bool) -> Result<()> {
    let holds = |condition: &SubscriptionCondition| {
        let message = condition.message.as_deref().unwrap_or_default();
        condition.type_ == kind && condition.status == "True" && says(message)
    };
    wait::until(&ctx.api(), "kettle", &format!("say {kind}"), |subscription: &Subscription| {
        subscription.status.iter().any(|status| status.conditions.iter().any(holds))
    })
    .await
    .map(drop)
}

/// The Job's account can write its ConfigMap: it belongs to that, and that to the catalog.
async fn check_account(ctx: &TestContext, job: &Job) -> Result<()> {
    let config_map: ConfigMap = ctx.api().get(&job.name_any()).await?;
    let of_map = config_map.owner_references().first().map(|owner| owner.kind.clone());
    let of_job = job.owner_references().first().map(|owner| owner.uid.clone());
    ensure!(of_map.as_deref() == Some("CatalogSource"), "{of_map:?}");
    ensure!(of_job == config_map.metadata.uid, "{of_job:?}");
    Ok(())
}

fn in_namespace(ctx: &TestContext) -> String {
    format!("metadata.namespace={}", ctx.namespace)
}

pub async fn plan(ctx: &TestContext) -> Result<InstallPlan> {
    let done = |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| !status.bundle_lookups.is_empty())
    };
    wait::until_some(&ctx.api(), &in_namespace(ctx), "have a bundle lookup", done).await
}

/// Steps refer to the ConfigMap, and nothing is left to be said about the lookup.
pub fn check_plan(plan: &InstallPlan) -> Result<()> {
    let status = plan.status.as_ref().context("a plan without status")?;
    let lookup = status.bundle_lookups.first().context("no lookup")?;
    ensure!(lookup.identifier == "kettle.v1.0.0" && lookup.conditions.is_empty(), "{lookup:?}");
    for step in &status.plan {
        let manifest = step.resource.manifest.as_deref().unwrap_or_default();
        ensure!(manifest.starts_with("{\"kind\":\"ConfigMap\",\"name\":"), "{manifest}");
    }
    let kinds: Vec<_> = status.plan.iter().map(|step| step.resource.kind.as_str()).collect();
    let expected = ["ClusterServiceVersion", "CustomResourceDefinition", "ServiceAccount"];
    ensure!(kinds.starts_with(&expected[..2]) && kinds.contains(&expected[2]), "{kinds:?}");
    Ok(())
}
