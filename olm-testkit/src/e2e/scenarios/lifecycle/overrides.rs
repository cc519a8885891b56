//! What a Subscription changes in the pods of its operator.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use olm_types::api::Subscription;
use serde_json::{Value, json};

use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::TestContext;
use crate::wait;

/// The whole configuration reaches the pods; when it changes they follow, and when it goes they are
/// as the CSV describes them.
pub(super) async fn of_a_subscription(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let kettle = csv("kettle.v1.0.0", "1.0.0").deployment("kettle", "default");
    let package = Package::single("kettle", Bundle::new("1.0.0", &kettle));
    ctx.catalog("kitchen", &[package]).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.config = Some(configuration().into());
    ctx.create(&subscription).await?;
    let before = until(&ctx, "be as the Subscription says", |pod, container| {
        container["env"][0]["value"] == "red"
            && container["envFrom"][0]["configMapRef"]["name"] == "settings"
            && container["volumeMounts"][0]["mountPath"] == "/water"
            && container["resources"]["requests"]["cpu"] == "1m"
            && pod["spec"]["volumes"][0]["name"] == "water"
            && pod["spec"]["tolerations"][0]["key"] == "hot"
            && pod["spec"]["nodeSelector"]["kubernetes.io/os"] == "linux"
            && pod["metadata"]["annotations"]["kitchen"] == "ours"
    })
    .await?;
    ensure!(before.annotations().get("kitchen").is_some_and(|v| v == "ours"), "no annotation");
    ctx.succeeded("kettle.v1.0.0").await?;
    configure(&ctx, json!({"env": [{"name": "COLOUR", "value": "blue"}]})).await?;
    until(&ctx, "turn blue", |_, container| container["env"][0]["value"] == "blue").await?;
    configure(&ctx, Value::Null).await?;
    until(&ctx, "be as the CSV says", |pod, container| {
        container["env"][0]["name"] == "OPERATOR_CONDITION_NAME"
            && container["volumeMounts"].is_null()
            && pod["spec"]["nodeSelector"].is_null()
    })
    .await?;
    ctx.at_latest("kettle", "kettle.v1.0.0").await?;
    ctx.succeeded("kettle.v1.0.0").await.map(drop)
}

fn configuration() -> Value {
    json!({
        "env": [{"name": "COLOUR", "value": "red"}],
        "envFrom": [{"configMapRef": {"name": "settings", "optional": true}}],
        "volumes": [{"name": "water", "emptyDir": {}}],
        "volumeMounts": [{"name": "water", "mountPath": "/water"}],
        "tolerations": [{"key": "hot", "operator": "Exists"}],
        "resources": {"requests": {"cpu": "1m"}},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "annotations": {"kitchen": "ours"},
    })
}

async fn configure(ctx: &TestContext, config: Value) -> Result<()> {
    let patch = Patch::Merge(json!({"spec": {"config": config}}));
    let subscriptions = ctx.api::<Subscription>();
    let patched = subscriptions.patch("kettle", &PatchParams::default(), &patch).await;
    patched.map(drop).context("cannot change the Subscription")
}

/// Waits until the pod template and its first container are so.
async fn until(
    ctx: &TestContext,
    what: &str,
    is_so: impl Fn(&Value, &Value) -> bool,
) -> Result<Deployment> {
    wait::until(&ctx.api(), "kettle", what, |deployment: &Deployment| {
        let template = deployment.spec.as_ref().map(|spec| &spec.template);
        let pod = serde_json::to_value(template).unwrap_or_default();
        is_so(&pod, &pod["spec"]["containers"][0])
    })
    .await
}
