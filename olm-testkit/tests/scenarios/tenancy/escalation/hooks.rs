//! Webhooks that an administrator's operator brings along: for whom they are called.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingWebhook, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_testkit::builders::{self, Bundle, CsvBuilder, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::annotations::CA_HASH;
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, WebhookDescription};
use serde_json::{Value, json};

use super::groups::{create, delete, release};
use super::tenant::Tenant;

/// Name of the Secret with the certificate of the webhook's server.
const SECRET: &str = "guard-service-cert";

/// The group loses its targets while the webhook is installed once more: the webhook is not called
/// for any other user.
pub async fn cleared_targets(tenant: Tenant) -> Result<()> {
    let (name, own) = called_at_home(&tenant).await?;
    delete(&tenant).await?;
    clear(&tenant).await?;
    let again = json!({"phase": "InstallReady", "reason": "AllRequirementsMet"});
    tenant.put_status::<ClusterServiceVersion>(&name, again).await?;
    still(&tenant, &name, &own).await?;
    release(&tenant).await
}

/// The same while its certificate is issued anew, because the tenant deletes the Secret: with a group that is being
/// deleted, and under the strict policy with one that stays. Under v0's, clearing the targets of a group that stays
/// asks for all namespaces, and gives them.
pub async fn lost_certificate(tenant: Tenant) -> Result<()> {
    let (name, own) = called_at_home(&tenant).await?;
    if tenant.is_strict() {
        clear(&tenant).await?;
        lose_secret(&tenant).await?;
        still(&tenant, &name, &own).await?;
        let again = json!({"phase": "InstallReady", "reason": "AllRequirementsMet"});
        tenant.put_status::<ClusterServiceVersion>(&name, again).await?;
        still(&tenant, &name, &own).await?;
        let mine = json!({"spec": {"targetNamespaces": [tenant.home()]}});
        tenant.put::<OperatorGroup>("group", mine).await?;
        tenant.ctx.succeeded(&name).await?;
    }
    delete(&tenant).await?;
    clear(&tenant).await?;
    lose_secret(&tenant).await?;
    still(&tenant, &name, &own).await?;
    release(&tenant).await
}

/// The status of a CSV says that its certificate was due long ago, or is due in decades: neither is it issued anew,
/// nor does anything else change whom the API server trusts. The Secret says that it is for another authority: the
/// webhook is called for the same namespaces, whatever becomes of its certificate.
pub async fn forged_certificates(tenant: Tenant) -> Result<()> {
    let (name, own) = called_at_home(&tenant).await?;
    tenant.ctx.until_idle().await?;
    let before = certificate(&tenant, &name).await?;
    for time in ["2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"] {
        let forged = json!({"certsRotateAt": time, "certsLastUpdated": time});
        tenant.put_status::<ClusterServiceVersion>(&name, forged).await?;
        tenant.ctx.until_idle().await?;
        let after = certificate(&tenant, &name).await?;
        ensure!(before == after, "with times of {time}, the certificate is another one");
    }
    // Doctor knows the authority by this annotation alone: the true one is put back, so that it finds nothing.
    let hash = before.0.annotations().get(CA_HASH).context("the Secret names no authority")?;
    for hash in ["forged", hash] {
        let forged = json!({"metadata": {"annotations": {CA_HASH: hash}}});
        tenant.put::<Secret>(SECRET, forged).await?;
        still(&tenant, &name, &own).await?;
        tenant.ctx.succeeded(&name).await?;
    }
    delete(&tenant).await?;
    release(&tenant).await
}

/// Installs an offered operator with a webhook, whose group a finalizer keeps; its name, and for whom the webhook is
/// called.
async fn called_at_home(tenant: &Tenant) -> Result<(String, Value)> {
    let name = format!("{}-guard.v1.0.0", tenant.home());
    publish(tenant, &name, "guard").await?;
    let uid = create(tenant, |_| {}).await?.uid().context("a group without uid")?;
    let mut subscription =
        builders::subscription(tenant.home(), &package(tenant), "stable", tenant.home());
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    tenant.create(&subscription).await?;
    tenant.ctx.succeeded(&name).await?;
    let label = format!("olm.operatorgroup.uid/{uid}");
    let own = json!({"matchLabels": {label: ""}});
    let found = called_for(tenant, &name).await?;
    ensure!(found == own, "the webhook is for others from the start");
    Ok((name, own))
}

/// Takes the targets away from the group.
async fn clear(tenant: &Tenant) -> Result<()> {
    tenant.put::<OperatorGroup>("group", json!({"spec": {"targetNamespaces": null}})).await
}

/// Deletes the Secret of the webhook's certificate.
async fn lose_secret(tenant: &Tenant) -> Result<()> {
    let secrets: Api<Secret> = Api::namespaced(tenant.client.clone(), tenant.home());
    let deleted = secrets.delete(SECRET, &DeleteParams::default()).await;
    deleted.map(drop).context("the tenant may not delete the Secret")
}

/// Fails unless the webhook is called for the same namespaces once everything rests.
async fn still(tenant: &Tenant, csv: &str, own: &Value) -> Result<()> {
    tenant.ctx.until_idle().await?;
    let now = called_for(tenant, csv).await?;
    ensure!(now == *own, "the webhook is called for namespaces with {now}");
    Ok(())
}

/// The Secret with the certificate, and whom the API server trusts.
async fn certificate(tenant: &Tenant, csv: &str) -> Result<(Secret, Value)> {
    let secrets: Api<Secret> = tenant.ctx.api();
    let secret = secrets.get(SECRET).await.context("there is no certificate")?;
    Ok((secret, serde_json::to_value(&hook(tenant, csv).await?.client_config)?))
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
    Ok(serde_json::to_value(&hook(tenant, csv).await?.namespace_selector)?)
}

async fn hook(tenant: &Tenant, csv: &str) -> Result<ValidatingWebhook> {
    let all: Api<ValidatingWebhookConfiguration> = Api::all(tenant.ctx.client.clone());
    let label = format!("olm.owner={csv},olm.owner.namespace={}", tenant.home());
    let mut found = all.list(&ListParams::default().labels(&label)).await?.items;
    ensure!(found.len() == 1, "{} configurations", found.len());
    let hooks = found.pop().and_then(|found| found.webhooks).unwrap_or_default();
    hooks.into_iter().next().context("no webhook")
}
