//! What removed operators leave.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;
use olm_types::api::{ClusterServiceVersion, Subscription};
use olm_types::labels::MANAGED;
use olm_types::owner;
use serde_json::{Value, json};

use super::{define, installed};
use crate::e2e::TestContext;
use crate::wait;

/// The configuration of a CSV whose finalizer was taken away by force.
pub(in super::super) async fn webhook(ctx: Arc<TestContext>) -> Result<()> {
    let labels = owner::owner_labels("gone.v1.0.0", &ctx.namespace, "ClusterServiceVersion");
    let rule = json!({"apiGroups": ["absent.example.com"], "apiVersions": ["v1"],
        "operations": ["CREATE"], "resources": ["things"]});
    let service = json!({"namespace": ctx.namespace, "name": "gone-service"});
    let hook = json!({"name": "gone.example.com", "clientConfig": {"service": service},
        "rules": [rule], "sideEffects": "None", "admissionReviewVersions": ["v1"]});
    let hook = json!({"metadata": {"name": ctx.namespace, "labels": labels}, "webhooks": [hook]});
    let hook: ValidatingWebhookConfiguration = serde_json::from_value(hook)?;
    let made = Api::all(ctx.client.clone()).create(&PostParams::default(), &hook).await;
    made.map(drop).context("cannot make a webhook configuration")
}

/// The definition of a CSV that is gone is converted by a Service that went with it.
pub(in super::super) async fn conversion(ctx: Arc<TestContext>) -> Result<()> {
    let crd = ctx.kind("Relic").and_version("v2");
    let record = format!("{INSTALLED_ALONGSIDE_PREFIX}0123456789abcdef");
    let metadata = json!({"labels": {MANAGED: "true"},
        "annotations": {record: format!("{}/relic.v1.0.0", ctx.namespace)}});
    let service = json!({"namespace": ctx.namespace, "name": "relic-service", "path": "/convert"});
    let webhook = json!({"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]});
    let spec = json!({"conversion": {"strategy": "Webhook", "webhook": webhook}});
    define(&ctx.client, &crd, metadata, spec).await
}

/// An operator goes before the object from which it would have taken its finalizer.
pub(in super::super) async fn finalizer(ctx: Arc<TestContext>) -> Result<()> {
    let csv = installed(&ctx, "vase").await?;
    let gvk = GroupVersionKind::gvk("e2e-doctor-finalizer.example.com", "v1", "Vase");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "vases");
    let vases: Api<DynamicObject> =
        Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource);
    let vase: Value = json!({"apiVersion": gvk.api_version(), "kind": "Vase",
        "metadata": {"name": "ming", "finalizers": ["vase.example.com/flowers"]}});
    let vase: DynamicObject = serde_json::from_value(vase)?;
    vases.create(&PostParams::default(), &vase).await.context("cannot make a vase")?;
    ctx.api::<Subscription>().delete("vase", &DeleteParams::default()).await?;
    let csvs = ctx.api::<ClusterServiceVersion>();
    csvs.delete(&csv, &DeleteParams::default()).await?;
    wait::until_gone(&csvs, &csv).await?;
    vases.delete("ming", &DeleteParams::default()).await.map(drop).context("cannot delete it")
}
