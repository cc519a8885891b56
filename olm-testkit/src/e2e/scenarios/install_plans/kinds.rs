//! Objects that a bundle brings besides its CSV.

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kube::ResourceExt;
use kube::api::DeleteParams;
use olm_types::api::InstallPlanPhase;
use serde_json::{Value, json};

use super::{cluster, event, is_in, is_owned_by, message, plan, reported};
use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::{TestContext, same};

const CSV: &str = "tools.v1.0.0";

fn object(api_version: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn bundle(objects: Vec<Value>) -> [Package; 1] {
    let operator = csv(CSV, "1.0.0").deployment("tools", "default");
    let bundle = objects.into_iter().fold(Bundle::new("1.0.0", &operator), Bundle::manifest);
    [Package::single("tools", bundle)]
}

/// Namespaced objects are owned by the CSV, others labelled; what was there is not taken over
/// silently, and warnings of the API server are reported.
pub(super) async fn every_kind(ctx: Arc<TestContext>) -> Result<()> {
    let class = format!("{}-class", ctx.namespace);
    let theirs: ConfigMap = serde_json::from_value(json!({
        "metadata": {"name": "settings", "namespace": ctx.namespace}, "data": {"theirs": "1"},
    }))?;
    ctx.create(&theirs).await?;
    ctx.operator_group().await?;
    // A headless Service with session affinity makes the API server warn.
    let service = json!({"clusterIP": "None", "sessionAffinity": "ClientIP", "ports": [{"port": 80}], "selector": {"app": "tools"}});
    let objects = vec![
        object("networking.k8s.io/v1", "NetworkPolicy", "tools", json!({"podSelector": {}})),
        object("policy/v1", "PodDisruptionBudget", "tools", json!({"maxUnavailable": 1})),
        json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": class}, "value": 7}),
        object("v1", "Service", "headless", service),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"ours": "1"}}),
    ];
    ctx.catalog("shed", &bundle(objects)).await?;
    ctx.subscribe("tools", "shed").await?;
    ctx.succeeded(CSV).await?;
    // The operator runs before the last step is done.
    plan(&ctx, "be complete", |plan| is_in(plan, InstallPlanPhase::Complete)).await?;
    let policy: NetworkPolicy = ctx.api().get("tools").await?;
    let budget: PodDisruptionBudget = ctx.api().get("tools").await?;
    let service: Service = ctx.api().get("headless").await?;
    let settings: ConfigMap = ctx.api().get("settings").await?;
    ensure!(is_owned_by(&policy, CSV) && is_owned_by(&budget, CSV), "they have no owner");
    ensure!(is_owned_by(&service, CSV) && is_owned_by(&settings, CSV), "they have no owner");
    let classes = cluster::<PriorityClass>(&ctx);
    let labels = classes.get(&class).await?.metadata.labels.unwrap_or_default();
    classes.delete(&class, &DeleteParams::default()).await?;
    same(labels.get("olm.owner").map(String::as_str), CSV)?;
    check_reported(&ctx).await
}

async fn check_reported(ctx: &TestContext) -> Result<()> {
    event(ctx, "report a warning", |event| event.reason.as_deref() == Some("AppliedWithWarnings"))
        .await?;
    let texts = reported(ctx, "AppliedWithWarnings").await?;
    let start = "1 warning(s) generated during installation of operator \"tools.v1.0.0\" (Service \"headless\"): ";
    ensure!(texts.iter().any(|text| text.starts_with(start)), "{texts:?}");
    let texts = reported(ctx, "ObjectTakenOver").await?;
    let start = "ConfigMap \"settings\" existed before and was not managed by OLM";
    ensure!(texts.len() == 1 && texts[0].starts_with(start), "{texts:?}");
    Ok(())
}

/// The step says which API is missing; what comes before it is done.
pub(super) async fn a_missing_api(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let rule = object("monitoring.absent.example.com/v1", "PrometheusRule", "alerts", json!({}));
    ctx.catalog("shed", &bundle(vec![rule])).await?;
    ctx.subscribe("tools", "shed").await?;
    let plan = plan(&ctx, "name the missing API", |plan| {
        message(plan).contains(
            "api-server resource not found installing PrometheusRule alerts: GroupVersionKind \
            monitoring.absent.example.com/v1, Kind=PrometheusRule not found on the cluster.",
        )
    })
    .await?;
    ensure!(is_in(&plan, InstallPlanPhase::Installing), "{:?}", plan.name_any());
    ctx.succeeded(CSV).await.map(drop)
}
