//! CSVs, InstallPlans and Subscriptions whose status and annotations the tenant writes himself.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::api::{Api, ListParams, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, OperatorGroup, Subscription};
use serde_json::json;

use super::bundles::installer;
use super::csvs::{SNOOP, snoop};
use super::forgery::{CSV as HONEST, OperatorObjects};
use super::groups::{nothing_is_gained, ruler};
use super::plans::{crown, reported, write_plan_with};
use super::targets::{install, thief};
use super::tenant::{Tenant, secrets};

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
    tenant.ctx.until_idle().await?;
    no_webhook(&tenant, "Replacing").await
}

/// Fails when there is a webhook of the tenant's own CSV, which has this phase.
pub async fn no_webhook(tenant: &Tenant, phase: &str) -> Result<()> {
    let all: Api<ValidatingWebhookConfiguration> = Api::all(tenant.ctx.client.clone());
    let label = format!("olm.owner={SNOOP},olm.owner.namespace={}", tenant.home());
    let found = all.list(&ListParams::default().labels(&label)).await?.items;
    ensure!(found.is_empty(), "a webhook is installed for phase {phase}");
    Ok(())
}

/// The CSV says that its group gives all namespaces, and that of another user; and that its group is one of
/// another user, which does give all.
pub async fn forged_annotations(tenant: Tenant) -> Result<()> {
    everywhere(&tenant).await?;
    tenant.own_group().await?;
    install(&tenant).await?;
    let name = thief(&tenant);
    tenant.ctx.succeeded(&name).await?;
    let foreign = tenant.foreign.as_str();
    let forgeries = [
        json!({"olm.targetNamespaces": ""}),
        json!({"olm.targetNamespaces": foreign}),
        json!({"olm.operatorGroup": "everywhere"}),
        json!({"olm.operatorNamespace": foreign}),
        json!({
            "olm.operatorGroup": "everywhere", "olm.operatorNamespace": foreign,
            "olm.targetNamespaces": "",
        }),
    ];
    for annotations in forgeries {
        let forged = json!({"metadata": {"annotations": annotations}});
        tenant.put::<ClusterServiceVersion>(&name, forged).await?;
        nothing_is_gained(&tenant).await?;
    }
    let csvs: Api<ClusterServiceVersion> =
        Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    let copy = csvs.get_opt(&name).await.context("cannot look for a copy")?;
    ensure!(copy.is_none(), "the CSV is copied into a namespace of another user");
    Ok(())
}

/// A group of another user, which an administrator gives all namespaces.
async fn everywhere(tenant: &Tenant) -> Result<()> {
    tenant.allow_targets(&tenant.foreign, "*").await?;
    let groups: Api<OperatorGroup> = Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    let group = builders::operator_group(&tenant.foreign, "everywhere", &[]);
    groups.create(&PostParams::default(), &group).await.context("cannot create the group")?;
    let gives_all = |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| status.namespaces == [""])
    };
    wait::until(&groups, "everywhere", "give all namespaces", gives_all).await.map(drop)
}

/// The CSV lacks a definition and the rights that its account needs, and says that both are there: it does not
/// succeed for long, and its account gets nothing. Its Deployments are those that the tenant could make himself.
pub async fn forged_requirements(tenant: Tenant) -> Result<()> {
    tenant.own_group().await?;
    tenant.create(&builders::service_account(tenant.home(), "thief")).await?;
    let operator = csv(SNOOP, "1.0.0")
        .requires(&tenant.ctx.kind("Nowhere"))
        .cluster_permission("thief", secrets())
        .deployment("snoop", "thief");
    tenant.create(&operator.build()).await?;
    let unmet = "RequirementsNotMet";
    tenant.ctx.csv_phase(SNOOP, CsvPhase::Pending, unmet).await?;
    for phase in ["InstallReady", "Installing", "Succeeded"] {
        let forged = json!({"phase": phase, "reason": "AllRequirementsMet"});
        tenant.put_status::<ClusterServiceVersion>(SNOOP, forged).await?;
        nothing_is_gained(&tenant).await?;
        tenant.ctx.csv_phase(SNOOP, CsvPhase::Pending, unmet).await?;
    }
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

/// A Subscription says that it installed the operator of another user, and names his plan, the newest that there
/// can be: the operator is not configured by it, and keeps its Deployment.
pub async fn forged_pointers(tenant: Tenant) -> Result<()> {
    let before = OperatorObjects::install(&tenant).await?;
    tenant.own_group().await?;
    let mut subscription = builders::subscription(tenant.home(), "any", "stable", "none");
    subscription.spec.config = Some(json!({"env": [{"name": "STOLEN", "value": "yes"}]}).into());
    let generated = ("olm.generated-by".to_owned(), "any".to_owned());
    subscription.metadata.annotations = Some([generated].into());
    tenant.create(&subscription).await?;
    let plan = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
        "namespace": tenant.foreign, "name": "any",
    });
    let forged = json!({
        "installedCSV": HONEST, "currentCSV": HONEST, "state": "AtLatestKnown",
        "installPlanRef": plan, "installPlanGeneration": i64::MAX,
        "lastUpdated": "2026-01-01T00:00:00Z",
        "conditions": [{"type": "CatalogSourcesUnhealthy", "status": "False"}],
        "catalogHealth": [{
            "catalogSourceRef": {"namespace": OLM_NAMESPACE, "name": "none"}, "healthy": true,
            "lastUpdated": "2026-01-01T00:00:00Z",
        }],
    });
    tenant.put_status::<Subscription>("any", forged).await?;
    tenant.ctx.until_idle().await?;
    let after = OperatorObjects::look(&tenant).await?;
    ensure!(before == after, "{before:?} became {after:?}");
    Ok(())
}
