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
use crate::e2e::Scene;
use crate::wait;

/// The configuration of a CSV whose finalizer was taken away by force.
pub(in super::super) async fn webhook(scene: Arc<Scene>) -> Result<()> {
    let labels = owner::owner_labels("gone.v1.0.0", &scene.namespace, "ClusterServiceVersion");
    let rule = json!({"apiGroups": ["absent.example.com"], "apiVersions": ["v1"],
        "operations": ["CREATE"], "resources": ["things"]});
    let service = json!({"namespace": scene.namespace, "name": "gone-service"});
    let hook = json!({"name": "gone.example.com", "clientConfig": {"service": service},
        "rules": [rule], "sideEffects": "None", "admissionReviewVersions": ["v1"]});
    let hook = json!({"metadata": {"name": scene.namespace, "labels": labels}, "webhooks": [hook]});
    let hook: ValidatingWebhookConfiguration = serde_json::from_value(hook)?;
    let made = Api::all(scene.client.clone()).create(&PostParams::default(), &hook).await;
    made.map(drop).context("cannot make a webhook configuration")
}

/// The definition of a CSV that is gone is converted by a Service that went with it.
pub(in super::super) async fn conversion(scene: Arc<Scene>) -> Result<()> {
    let crd = scene.kind("Relic").and_version("v2");
    let record = format!("{INSTALLED_ALONGSIDE_PREFIX}0123456789abcdef");
    let metadata = json!({"labels": {MANAGED: "true"},
        "annotations": {record: format!("{}/relic.v1.0.0", scene.namespace)}});
    let service =
        json!({"namespace": scene.namespace, "name": "relic-service", "path": "/convert"});
    let webhook = json!({"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]});
    let spec = json!({"conversion": {"strategy": "Webhook", "webhook": webhook}});
    define(&scene.client, &crd, metadata, spec).await
}

/// An operator goes before the object from which it would have taken its finalizer.
pub(in super::super) async fn finalizer(scene: Arc<Scene>) -> Result<()> {
    let csv = installed(&scene, "vase").await?;
    let gvk = GroupVersionKind::gvk("e2e-doctor-finalizer.example.com", "v1", "Vase");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "vases");
    let vases: Api<DynamicObject> =
        Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    let vase: Value = json!({"apiVersion": gvk.api_version(), "kind": "Vase",
        "metadata": {"name": "ming", "finalizers": ["vase.example.com/flowers"]}});
    let vase: DynamicObject = serde_json::from_value(vase)?;
    vases.create(&PostParams::default(), &vase).await.context("cannot make a vase")?;
    scene.api::<Subscription>().delete("vase", &DeleteParams::default()).await?;
    let csvs = scene.api::<ClusterServiceVersion>();
    csvs.delete(&csv, &DeleteParams::default()).await?;
    wait::until_gone(&csvs, &csv).await?;
    vases.delete("ming", &DeleteParams::default()).await.map(drop).context("cannot delete it")
}
