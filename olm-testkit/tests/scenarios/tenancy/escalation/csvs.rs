//! CSVs that the tenant writes himself, without any catalog.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, PostParams};
use olm_testkit::builders::csv;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::json;

use super::super::review::Request;
use super::tenant::Tenant;

pub const SNOOP: &str = "snoop.v1.0.0";

/// A webhook would be called for objects at cluster scope, whoever writes them.
pub async fn webhook(tenant: Tenant) -> Result<()> {
    tenant.own_group().await?;
    tenant.create(&snoop(&tenant)?).await?;
    let all: Api<ValidatingWebhookConfiguration> = Api::all(tenant.ctx.client.clone());
    let label = format!("olm.owner={SNOOP},olm.owner.namespace={}", tenant.home());
    let ours = ListParams::default().labels(&label);
    if !tenant.is_strict() {
        tenant.ctx.succeeded(SNOOP).await?;
        ensure!(all.list(&ours).await?.items.len() == 1, "v0 installs the webhook");
        return Ok(());
    }
    let waits = tenant.ctx.csv_phase(SNOOP, CsvPhase::Pending, "NotAllowedByTenantPolicy").await?;
    let text = waits.status.and_then(|status| status.message).unwrap_or_default();
    ensure!(text.starts_with("ValidatingAdmissionWebhook snoop.example.com would be"), "{text}");
    ensure!(all.list(&ours).await?.items.is_empty(), "a tenant's webhook is installed");
    // What an administrator allows goes on at once.
    tenant.allow_targets(tenant.home(), "*").await?;
    tenant.ctx.succeeded(SNOOP).await.map(drop)
}

/// A CSV with a webhook.
pub fn snoop(tenant: &Tenant) -> Result<ClusterServiceVersion> {
    let hooks = json!([{
        "type": "ValidatingAdmissionWebhook", "generateName": "snoop.example.com",
        "deploymentName": "snoop", "containerPort": 443, "failurePolicy": "Ignore",
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "webhookPath": "/snoop",
        "rules": [{
            "apiGroups": [format!("{}.example.com", tenant.home())], "apiVersions": ["*"],
            "operations": ["CREATE"], "resources": ["things"],
        }],
    }]);
    let hooks = serde_json::from_value(hooks)?;
    let snoop = csv(SNOOP, "1.0.0").deployment("snoop", "default");
    Ok(snoop.with(|csv| csv.spec.webhookdefinitions = hooks).build())
}

/// Who says that he owns a definition of another user gets rights on its objects.
pub async fn foreign_definition(tenant: Tenant) -> Result<()> {
    let kind = tenant.ctx.kind("Treasure");
    let crds: Api<CustomResourceDefinition> = Api::all(tenant.ctx.client.clone());
    let mut manifest = kind.manifest();
    manifest["metadata"]["labels"]["olm.managed"] = json!("true");
    crds.create(&PostParams::default(), &serde_json::from_value(manifest)?).await?;
    let name = kind.name();
    let (plural, group) = name.split_once('.').context("a CRD name without a group")?;
    let read = Request {
        user: &tenant.user,
        verb: "list",
        resource: (group, plural),
        namespace: tenant.home(),
    };
    read.expect(&tenant.ctx.client, false).await?;
    tenant.own_group().await?;
    let mut snoop = csv(SNOOP, "1.0.0").owns(&kind).deployment("snoop", "default").build();
    let component = format!("operators.coreos.com/snoop.{}", tenant.home());
    snoop.metadata.labels.get_or_insert_default().insert(component.clone(), String::new());
    tenant.create(&snoop).await?;
    tenant.ctx.succeeded(SNOOP).await?;
    let is_labelled =
        |crd: &CustomResourceDefinition| kube::ResourceExt::labels(crd).contains_key(&component);
    if !tenant.is_strict() {
        wait::until(&crds, &name, "belong to the tenant's operator", is_labelled).await?;
        return read.expect(&tenant.ctx.client, true).await;
    }
    tenant.ctx.until_idle().await?;
    read.expect(&tenant.ctx.client, false).await?;
    ensure!(!is_labelled(&crds.get(&name).await?), "a tenant's CSV labels the definition");
    let roles: Api<ClusterRole> = Api::all(tenant.ctx.client.clone());
    let role = format!("{name}-v1-view");
    ensure!(roles.get_opt(&role).await?.is_none(), "a tenant's CSV gives rights to users");
    tenant.allow_targets(tenant.home(), "*").await?;
    wait::until(&roles, &role, "be there", |_| true).await?;
    read.expect(&tenant.ctx.client, true).await
}

/// A ClusterRole of another user has the name of a role for an API: it is never written, wherever the roles for
/// that API may be.
pub async fn foreign_role(tenant: Tenant) -> Result<()> {
    let (once, kind) = (PostParams::default(), tenant.ctx.kind("Ledger"));
    let crds: Api<CustomResourceDefinition> = Api::all(tenant.ctx.client.clone());
    crds.create(&once, &serde_json::from_value(kind.manifest())?).await?;
    let roles: Api<ClusterRole> = Api::all(tenant.ctx.client.clone());
    let name = |level: &str| format!("{}-v1-{level}", kind.name());
    let mine = json!({"metadata": {"name": name("edit"), "labels": {"mine": "yes"}}, "rules": []});
    let mine = roles.create(&once, &serde_json::from_value(mine)?).await?;
    tenant.own_group().await?;
    if tenant.is_strict() {
        // Without that there are no roles for a CSV of the tenant's own.
        tenant.allow_targets(tenant.home(), "*").await?;
    }
    tenant.create(&csv(SNOOP, "1.0.0").owns(&kind).deployment("snoop", "default").build()).await?;
    tenant.ctx.succeeded(SNOOP).await?;
    for level in ["admin", "view", "crdview"] {
        wait::until(&roles, &name(level), "be there", |_| true).await?;
    }
    tenant.ctx.until_idle().await?;
    let now = roles.get(&name("edit")).await?;
    ensure!(now == mine, "the role of another user became {now:?}");
    Ok(())
}
