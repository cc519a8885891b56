//! CSVs, InstallPlans and Subscriptions whose status and annotations the tenant writes himself.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::api::{Api, ListParams};
use olm_testkit::builders;
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, Subscription};
use serde_json::json;

use super::bundles::installer;
use super::csvs::{SNOOP, snoop};
use super::forgery::{CSV as HONEST, Honest};
use super::groups::{nothing_is_gained, ruler};
use super::plans::{crown, reported, write_plan_with};
use super::targets::{install, thief};
use super::tenant::Tenant;

/// A phase says what was looked at already: none lets a webhook in that is not allowed. Under v0's
/// policy it is allowed.
pub async fn forged_phase(tenant: Tenant) -> Result<()> {
    tenant.own_group().await?;
    tenant.create(&snoop(&tenant)?).await?;
    if !tenant.is_strict() {
        return tenant.ctx.succeeded(SNOOP).await.map(drop);
    }
    let refused = "NotAllowedByTenantPolicy";
    tenant.ctx.csv_phase(SNOOP, CsvPhase::Pending, refused).await?;
    for phase in ["InstallReady", "Installing", "Succeeded"] {
        let forged = json!({"phase": phase, "reason": "AllRequirementsMet"});
        tenant.put_status::<ClusterServiceVersion>(SNOOP, forged).await?;
        tenant.ctx.csv_phase(SNOOP, CsvPhase::Pending, refused).await?;
        no_webhook(&tenant, phase).await?;
    }
    // One that makes way is not looked at again, and nothing of it is installed.
    let forged = json!({"phase": "Replacing", "reason": "BeingReplaced"});
    tenant.put_status::<ClusterServiceVersion>(SNOOP, forged).await?;
    tenant.ctx.at_rest().await?;
    no_webhook(&tenant, "Replacing").await
}

async fn no_webhook(tenant: &Tenant, phase: &str) -> Result<()> {
    let all: Api<ValidatingWebhookConfiguration> = Api::all(tenant.ctx.client.clone());
    let label = format!("olm.owner={SNOOP},olm.owner.namespace={}", tenant.home());
    let found = all.list(&ListParams::default().labels(&label)).await?.items;
    ensure!(found.is_empty(), "a webhook is installed for phase {phase}");
    Ok(())
}

/// The CSV says that its group gives all namespaces, and that of another user.
pub async fn forged_annotations(tenant: Tenant) -> Result<()> {
    tenant.own_group().await?;
    install(&tenant).await?;
    let name = thief(&tenant);
    tenant.ctx.succeeded(&name).await?;
    for targets in ["", tenant.foreign.as_str()] {
        let forged = json!({"metadata": {"annotations": {"olm.targetNamespaces": targets}}});
        tenant.put::<ClusterServiceVersion>(&name, forged).await?;
        nothing_is_gained(&tenant).await?;
    }
    let csvs: Api<ClusterServiceVersion> =
        Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    let copy = csvs.get_opt(&name).await.context("cannot look for a copy")?;
    ensure!(copy.is_none(), "the CSV is copied into a namespace of another user");
    Ok(())
}

/// The plan says that an account of another user executes it; the account of the group does.
pub async fn forged_executor(tenant: Tenant) -> Result<()> {
    ruler(&tenant).await?;
    installer(&tenant).await?;
    let account = json!({"namespace": tenant.foreign, "name": "ruler"});
    let forged = json!({"attenuatedServiceAccountRef": account});
    write_plan_with(&tenant, &crown(&tenant), forged).await?;
    reported(&tenant, "cannot create resource \"clusterrolebindings\"").await?;
    tenant.theft(&tenant.user, "kube-system").expect(&tenant.ctx.client, false).await?;
    let plan = tenant.ctx.api::<InstallPlan>().get("by-hand").await?;
    let named = plan.status.and_then(|status| status.attenuated_service_account_ref);
    let named = named.and_then(|account| account.name).unwrap_or_default();
    ensure!(named == "installer", "the plan names {named}");
    Ok(())
}

/// A Subscription says that it installed the operator of another user, and names his plan: the
/// operator is not configured by it, and keeps its Deployment.
pub async fn forged_pointers(tenant: Tenant) -> Result<()> {
    let before = Honest::install(&tenant).await?;
    tenant.own_group().await?;
    let mut subscription = builders::subscription(tenant.home(), "any", "stable", "none");
    subscription.spec.config = Some(json!({"env": [{"name": "STOLEN", "value": "yes"}]}));
    tenant.create(&subscription).await?;
    let plan = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
        "namespace": tenant.foreign, "name": "any",
    });
    let forged = json!({
        "installedCSV": HONEST, "currentCSV": HONEST, "state": "AtLatestKnown",
        "installPlanRef": plan, "lastUpdated": "2026-01-01T00:00:00Z",
    });
    tenant.put_status::<Subscription>("any", forged).await?;
    tenant.ctx.at_rest().await?;
    let after = Honest::look(&tenant).await?;
    ensure!(before == after, "{before:?} became {after:?}");
    Ok(())
}
