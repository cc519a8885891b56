//! CSVs by hand.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorCondition, WebhookDescription};
use olm_types::labels::{OWNER, OWNER_NAMESPACE};
use serde_json::{Value, json};

use super::super::catalog::{kind, operator, pods};
use super::{define, installed, patch, patch_status};
use crate::builders::csv;
use crate::e2e::TestContext;
use crate::wait::{self, Waitable};

/// A kind is required that a package of the catalog provides.
pub(in super::super) async fn requirement(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let drinker = operator("drinker", "1.0.0").requires(&kind("requirement", "Cup")).build();
    ctx.create(&drinker).await?;
    let reason = "RequirementsNotMet";
    ctx.csv_phase("drinker.v1.0.0", CsvPhase::Pending, reason).await.map(drop)
}

/// A CSV by hand runs as the account of another one.
pub(in super::super) async fn account(ctx: Arc<TestContext>) -> Result<()> {
    installed(&ctx, "barista").await?;
    let other = csv("waiter.v1.0.0", "1.0.0").deployment("waiter", "barista");
    ctx.create(&other.permission("barista", pods()).build()).await?;
    let reason = "RequirementsNotMet";
    ctx.csv_phase("waiter.v1.0.0", CsvPhase::Pending, reason).await.map(drop)
}

/// A kubelet's report that an image cannot be pulled.
pub(in super::super) async fn image(ctx: Arc<TestContext>) -> Result<()> {
    installed(&ctx, "plain").await?;
    let is_ready = |pod: &Pod| pod.status.as_ref().is_some_and(|it| it.pod_ip.is_some());
    let pod = wait::until_some(&ctx.api::<Pod>(), "", "run", is_ready).await?.name_any();
    let container = json!({"name": "manager", "image": "manager:1", "imageID": "", "ready": false,
        "restartCount": 0, "state": {"waiting": {"reason": "ImagePullBackOff",
            "message": "Back-off pulling image \"manager:1\""}}});
    let not_ready =
        |kind: &str| json!({"type": kind, "status": "False", "reason": "ContainersNotReady"});
    let status = json!({"phase": "Pending", "containerStatuses": [container],
        "conditions": [not_ready("Ready"), not_ready("ContainersReady")]});
    patch_status(&ctx.api::<Pod>(), &pod, status).await
}

/// A Deployment names a ServiceAccount that nothing makes.
pub(in super::super) async fn refused_pods(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&csv("tool.v1.0.0", "1.0.0").deployment("tool", "toolmaker").build()).await?;
    let is_refused = |deployment: &Deployment| {
        let status = deployment.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_ref());
        conditions.into_iter().flatten().any(|one| one.type_ == "ReplicaFailure")
    };
    wait::until(&ctx.api(), "tool", "be refused its Pods", is_refused).await.map(drop)
}

pub(in super::super) async fn circle(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let version = |name: &str, replaces: &str| {
        csv(name, "1.0.0").deployment("wheel", "default").replaces(replaces).build()
    };
    ctx.create(&version("wheel-a", "wheel-b")).await?;
    ctx.create(&version("wheel-b", "wheel-a")).await.map(drop)
}

/// A CSV is about to make way, and the one that it was to make way for is gone. That takes a CSV that goes
/// while OLM is between two writes, so the status is written in OLM's place.
pub(in super::super) async fn cut_chain(ctx: Arc<TestContext>) -> Result<()> {
    let csv = installed(&ctx, "plain").await?;
    let status = json!({"phase": "Replacing", "reason": "BeingReplaced",
        "message": "being replaced by csv: plain.v1.1.0"});
    patch_status(&ctx.api::<ClusterServiceVersion>(), &csv, status).await
}

/// More than a MiB of description.
pub(in super::super) async fn large(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let description = "All about it. ".repeat(80_000);
    ctx.create(&operator("novel", "1.0.0").description(description).build()).await?;
    ctx.succeeded("novel.v1.0.0").await.map(drop)
}

pub(in super::super) async fn busy(ctx: Arc<TestContext>) -> Result<()> {
    let csv = installed(&ctx, "plain").await?;
    let conditions = ctx.api::<OperatorCondition>();
    wait::until(&conditions, &csv, "be made", |_| true).await?;
    let refuses = json!({"type": "Upgradeable", "status": "False", "reason": "Busy",
        "message": "a backup is under way", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    patch(&conditions, &csv, json!({"spec": {"conditions": [refuses]}})).await
}

/// The API server takes no such Deployment. A CSV that failed once or twice is no finding while it is installed
/// anew; one that failed three times is, in whatever phase it is just now.
pub(in super::super) async fn failed(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let broken = operator("broken", "1.0.0").deployments(|spec| {
        spec["template"]["spec"]["containers"][0]["image"] = json!("");
    });
    ctx.create(&broken.build()).await?;
    let failed_three_times = |csv: &ClusterServiceVersion| {
        let reason = Some("InstallComponentFailed");
        let history = csv.status.iter().flat_map(|status| &status.conditions);
        let failures = history
            .filter(|past| past.phase == CsvPhase::Failed && past.reason.as_deref() == reason);
        failures.count() >= 3
    };
    let (csvs, what) = (ctx.api(), "fail three times");
    wait::until(&csvs, "broken.v1.0.0", what, failed_three_times).await.map(drop)
}

/// Certificates are due, and OLM may write no Secret of the namespace.
pub(in super::super) async fn overdue(ctx: Arc<TestContext>) -> Result<()> {
    let csv = with_webhook(&ctx).await?;
    forbid(&ctx, &ctx.api::<Secret>()).await?;
    let due = json!({"certsRotateAt": "2026-01-01T00:00:00Z"});
    patch_status(&ctx.api::<ClusterServiceVersion>(), &csv, due).await
}

/// A webhook loses its authority, and OLM may not give it back.
pub(in super::super) async fn untrusted(ctx: Arc<TestContext>) -> Result<()> {
    let csv = with_webhook(&ctx).await?;
    let hooks: Api<ValidatingWebhookConfiguration> = Api::all(ctx.client.clone());
    let is_own = |hook: &ValidatingWebhookConfiguration| {
        let label = |key: &str| hook.labels().get(key).map(String::as_str);
        label(OWNER) == Some(&csv) && label(OWNER_NAMESPACE) == Some(&ctx.namespace)
    };
    let hook = wait::until_some(&hooks, "", "be made", is_own).await?;
    forbid(&ctx, &hooks).await?;
    let other = serde_json::to_value(other_authority())?;
    let change =
        json!([{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": other}]);
    let change: Patch<()> = Patch::Json(serde_json::from_value(change)?);
    let changed = hooks.patch(&hook.name_any(), &PatchParams::default(), &change).await;
    changed.map(drop).context("cannot change the webhook")
}

/// An operator with a webhook that disturbs no other.
async fn with_webhook(ctx: &TestContext) -> Result<String> {
    let crd = ctx.kind("Guarded");
    define(&ctx.client, &crd, Value::Null, Value::Null).await?;
    ctx.operator_group().await?;
    let name = ctx.namespace.clone();
    let webhook: WebhookDescription = serde_json::from_value(json!({
        "type": "ValidatingAdmissionWebhook", "generateName": format!("{name}.example.com"),
        "deploymentName": "guard", "containerPort": 443, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
        "rules": [{"apiGroups": [crd.gvk()["group"]], "apiVersions": ["v1"], "resources": ["guardeds"],
            "operations": ["CREATE"]}],
    }))
    .context("a malformed webhook")?;
    let guard = operator("guard", "1.0.0").owns(&crd);
    let guard = guard.with(move |csv| csv.spec.webhookdefinitions = vec![webhook]).build();
    ctx.create(&guard).await?;
    ctx.succeeded("guard.v1.0.0").await?;
    Ok("guard.v1.0.0".to_owned())
}

/// From now on only administrators write objects of a kind, as far as they are named so or in the
/// namespace.
async fn forbid<K>(ctx: &TestContext, objects: &Api<K>) -> Result<()>
where
    K: Waitable,
{
    let name = ctx.namespace.as_str();
    let meant = format!(
        "has(request.namespace) && request.namespace == '{name}' || \
         has(request.name) && request.name.startsWith('{name}')"
    );
    // What has this label is forbidden to everyone, which shows whether the policy is in force.
    let probe = "has(object.metadata.labels) && 'probe' in object.metadata.labels";
    let admin = format!("!request.userInfo.username.startsWith('system:') && !({probe})");
    let rule = json!({"apiGroups": [K::group(&())], "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"], "resources": [K::plural(&())]});
    let policy = json!({"metadata": {"name": name}, "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "meant", "expression": meant}],
        "validations": [{"expression": admin, "message": "kept out"}]}});
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(policy)?;
    let binding = json!({"metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]}});
    let binding: ValidatingAdmissionPolicyBinding = serde_json::from_value(binding)?;
    let once = PostParams::default();
    Api::all(ctx.client.clone()).create(&once, &policy).await.context("no policy")?;
    Api::all(ctx.client.clone()).create(&once, &binding).await.context("no binding")?;
    let object = json!({"metadata": {"name": format!("{name}-probe"), "labels": {"probe": ""}}});
    let object: K = serde_json::from_value(object)?;
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    wait::until_ok("is forbidden by a policy", async || {
        match objects.create(&dry_run, &object).await {
            Err(error) if error.to_string().contains("kept out") => Ok(()),
            other => Err(anyhow!("it is not: {other:?}")),
        }
    })
    .await
}

fn other_authority() -> k8s_openapi::ByteString {
    k8s_openapi::ByteString(b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".to_vec())
}
