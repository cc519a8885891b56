//! Webhooks that an administrator's operator brings along: for whom they are called.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::ResourceExt;
use kube::api::{Api, ListParams, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, WebhookDescription};
use serde_json::{Value, json};

use super::ground::Ground;
use super::groups::{create, delete, release};

/// The group loses its targets while the webhook is installed once more: the webhook is not called
/// for any other user.
pub async fn cleared_targets(ground: Ground) -> Result<()> {
    let name = format!("{}-guard.v1.0.0", ground.home());
    offer(&ground, &name).await?;
    let uid = create(&ground, |_| {}).await?.uid().context("a group without uid")?;
    let mut subscription =
        builders::subscription(ground.home(), &package(&ground), "stable", ground.home());
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    ground.create(&subscription).await?;
    ground.scene.succeeded(&name).await?;
    let label = format!("olm.operatorgroup.uid/{uid}");
    let own = json!({"matchLabels": {label: ""}});
    ensure!(called_for(&ground, &name).await? == own, "the webhook is for others from the start");
    delete(&ground).await?;
    ground.put::<OperatorGroup>("group", json!({"spec": {"targetNamespaces": null}})).await?;
    let again = json!({"phase": "InstallReady", "reason": "AllRequirementsMet"});
    ground.put_status::<ClusterServiceVersion>(&name, again).await?;
    ground.scene.at_rest().await?;
    let now = called_for(&ground, &name).await?;
    ensure!(now == own, "the webhook is called for namespaces with {now}");
    release(&ground).await?;
    let catalogs: Api<CatalogSource> = Api::namespaced(ground.scene.client.clone(), OLM_NAMESPACE);
    catalogs.delete(ground.home(), &Default::default()).await.map(drop).context("cannot delete")
}

/// An administrator offers an operator with a webhook to all namespaces.
async fn offer(ground: &Ground, name: &str) -> Result<()> {
    let hooks: Vec<WebhookDescription> = serde_json::from_value(json!([{
        "type": "ValidatingAdmissionWebhook", "generateName": "guard.example.com",
        "deploymentName": "guard", "containerPort": 443, "failurePolicy": "Ignore",
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "webhookPath": "/guard",
        "rules": [{
            "apiGroups": [format!("{}.example.com", ground.home())], "apiVersions": ["*"],
            "operations": ["CREATE"], "resources": ["things"],
        }],
    }]))?;
    let operator = csv(name, "1.0.0")
        .deployment("guard", "default")
        .with(|csv| csv.spec.webhookdefinitions = hooks);
    let bundle = Bundle::new("1.0.0", &operator);
    let content = ground.scene.content(&[Package::single(&package(ground), bundle)])?;
    let address = ground.scene.registry("guards", content).await?;
    let source = builders::catalog_source(OLM_NAMESPACE, ground.home(), &address);
    let catalogs: Api<CatalogSource> = Api::namespaced(ground.scene.client.clone(), OLM_NAMESPACE);
    catalogs.create(&PostParams::default(), &source).await.context("no global catalog")?;
    wait::until_connected(&catalogs, ground.home()).await.map(drop)
}

fn package(ground: &Ground) -> String {
    format!("{}-guard", ground.home())
}

/// The namespaces that the webhook of a CSV is called for.
async fn called_for(ground: &Ground, csv: &str) -> Result<Value> {
    let all: Api<ValidatingWebhookConfiguration> = Api::all(ground.scene.client.clone());
    let label = format!("olm.owner={csv},olm.owner.namespace={}", ground.home());
    let found = all.list(&ListParams::default().labels(&label)).await?.items;
    let [configuration] = found.as_slice() else { anyhow::bail!("{} configurations", found.len()) };
    let webhook = configuration.webhooks.iter().flatten().next().context("no webhook")?;
    Ok(serde_json::to_value(&webhook.namespace_selector)?)
}
