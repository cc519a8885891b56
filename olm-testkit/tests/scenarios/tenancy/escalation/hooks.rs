//! Webhooks that an administrator's operator brings along: for whom they are called.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::ResourceExt;
use kube::api::{Api, ListParams, PostParams};
use olm_testkit::builders::{self, Bundle, CsvBuilder, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, WebhookDescription};
use serde_json::{Value, json};

use super::groups::{create, delete, release};
use super::tenant::Tenant;

/// The group loses its targets while the webhook is installed once more: the webhook is not called
/// for any other user.
pub async fn cleared_targets(tenant: Tenant) -> Result<()> {
    let name = format!("{}-guard.v1.0.0", tenant.home());
    publish(&tenant, &name, "guard").await?;
    let uid = create(&tenant, |_| {}).await?.uid().context("a group without uid")?;
    let mut subscription =
        builders::subscription(tenant.home(), &package(&tenant), "stable", tenant.home());
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    tenant.create(&subscription).await?;
    tenant.ctx.succeeded(&name).await?;
    let label = format!("olm.operatorgroup.uid/{uid}");
    let own = json!({"matchLabels": {label: ""}});
    ensure!(called_for(&tenant, &name).await? == own, "the webhook is for others from the start");
    delete(&tenant).await?;
    tenant.put::<OperatorGroup>("group", json!({"spec": {"targetNamespaces": null}})).await?;
    let again = json!({"phase": "InstallReady", "reason": "AllRequirementsMet"});
    tenant.put_status::<ClusterServiceVersion>(&name, again).await?;
    tenant.ctx.at_rest().await?;
    let now = called_for(&tenant, &name).await?;
    ensure!(now == own, "the webhook is called for namespaces with {now}");
    release(&tenant).await?;
    let catalogs: Api<CatalogSource> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    catalogs.delete(tenant.home(), &Default::default()).await.map(drop).context("cannot delete")
}

/// An administrator offers an operator with a webhook to all namespaces.
pub async fn publish(tenant: &Tenant, name: &str, deployment: &str) -> Result<()> {
    let bundle = Bundle::new("1.0.0", &guard(tenant, name, deployment)?);
    let content = tenant.ctx.content(&[Package::single(&package(tenant), bundle)])?;
    let address = tenant.ctx.registry("guards", content).await?;
    let source = builders::catalog_source(OLM_NAMESPACE, tenant.home(), &address);
    let catalogs: Api<CatalogSource> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    catalogs.create(&PostParams::default(), &source).await.context("no global catalog")?;
    wait::until_connected(&catalogs, tenant.home()).await.map(drop)
}

/// An operator with a webhook.
pub fn guard(tenant: &Tenant, name: &str, deployment: &str) -> Result<CsvBuilder> {
    let hooks: Vec<WebhookDescription> = serde_json::from_value(json!([{
        "type": "ValidatingAdmissionWebhook", "generateName": "guard.example.com",
        "deploymentName": deployment, "containerPort": 443, "failurePolicy": "Ignore",
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "webhookPath": "/guard",
        "rules": [{
            "apiGroups": [format!("{}.example.com", tenant.home())], "apiVersions": ["*"],
            "operations": ["CREATE"], "resources": ["things"],
        }],
    }]))?;
    let operator = csv(name, "1.0.0").deployment(deployment, "default");
    Ok(operator.with(|csv| csv.spec.webhookdefinitions = hooks))
}

fn package(tenant: &Tenant) -> String {
    format!("{}-guard", tenant.home())
}

/// The namespaces that the webhook of a CSV is called for.
async fn called_for(tenant: &Tenant, csv: &str) -> Result<Value> {
    let all: Api<ValidatingWebhookConfiguration> = Api::all(tenant.ctx.client.clone());
    let label = format!("olm.owner={csv},olm.owner.namespace={}", tenant.home());
    let found = all.list(&ListParams::default().labels(&label)).await?.items;
    let [configuration] = found.as_slice() else { anyhow::bail!("{} configurations", found.len()) };
    let webhook = configuration.webhooks.iter().flatten().next().context("no webhook")?;
    Ok(serde_json::to_value(&webhook.namespace_selector)?)
}
