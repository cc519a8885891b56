//! InstallPlans that the tenant writes or changes.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, InstallPlan, InstallPlanPhase};
use serde_json::{Value, json};

use super::tenant::Tenant;

/// Waits until a plan says that it is refused, in these words.
pub async fn refused(tenant: &Tenant, words: &str) -> Result<()> {
    let says = |plan: &InstallPlan| {
        plan.status.iter().flat_map(|status| &status.conditions).any(|condition| {
            condition.reason.as_deref() == Some("InstallCheckFailed")
                && condition.message.as_deref().is_some_and(|text| text.contains(words))
        })
    };
    wait::until_some(&tenant.ctx.api::<InstallPlan>(), "", "be refused", says).await.map(drop)
}

/// Waits until a plan has a message with these words.
pub async fn reported(tenant: &Tenant, words: &str) -> Result<()> {
    let says = |plan: &InstallPlan| {
        let status = plan.status.as_ref();
        status.and_then(|status| status.message.as_ref()).is_some_and(|text| text.contains(words))
    };
    let what = format!("say {words}");
    wait::until_some(&tenant.ctx.api::<InstallPlan>(), "", &what, says).await.map(drop)
}

/// Waits until a plan says this, and fails when it is Complete without. What else it says on the way does not
/// count: that its namespace has no OperatorGroup, say, while catalog-operator has not seen it yet.
pub async fn concluded(tenant: &Tenant, words: &str) -> Result<()> {
    let says = |plan: &InstallPlan| {
        serde_json::to_string(&plan.status).is_ok_and(|status| status.contains(words))
    };
    let is_over = |plan: &InstallPlan| {
        let phase = plan.status.as_ref().map(|status| status.phase);
        says(plan) || phase == Some(InstallPlanPhase::Complete)
    };
    let plans = tenant.ctx.api::<InstallPlan>();
    let what = format!("say {words}, or be Complete");
    let plan = wait::until_some(&plans, "", &what, is_over).await?;
    ensure!(says(&plan), "not refused: {:?}", plan.status);
    Ok(())
}

/// A plan with a status of the tenant's own, with a mark and without: its steps give him the whole cluster.
pub async fn plan_by_hand(tenant: Tenant) -> Result<()> {
    let theft = tenant.theft(&tenant.user, "kube-system");
    theft.expect(&tenant.ctx.client, false).await?;
    tenant.own_group().await?;
    write_plan(&tenant, &crown(&tenant)).await?;
    if !tenant.is_strict() {
        return theft.expect(&tenant.ctx.client, true).await;
    }
    refused(&tenant, "are not those that a resolution found").await?;
    // A mark made up, in place of the condition that says so.
    let mark = json!({
        "type": "StepsAttested", "status": "True", "reason": "Resolved", "message": "00".repeat(32),
        "lastTransitionTime": "2026-01-01T00:00:00Z", "lastUpdateTime": "2026-01-01T00:00:00Z",
    });
    let forged = json!({"phase": "Installing", "conditions": [mark]});
    tenant.put_status::<InstallPlan>("by-hand", forged).await?;
    refused(&tenant, "are not those that a resolution found").await?;
    // What a plan says that lacked rights, which is tried again.
    let forged = json!({"phase": "Failed", "message": "clusterrolebindings is forbidden: no"});
    tenant.put_status::<InstallPlan>("by-hand", forged).await?;
    tenant.ctx.until_idle().await?;
    theft.expect(&tenant.ctx.client, false).await
}

/// A plan of OLM's that waits for approval gets another step, and is approved.
pub async fn changed_plan(tenant: Tenant) -> Result<()> {
    let theft = tenant.theft(&tenant.user, "kube-system");
    let package = format!("{}-good", tenant.home());
    let operator = csv("good.v1.0.0", "1.0.0").deployment("good", "default");
    let content =
        tenant.ctx.content(&[Package::single(&package, Bundle::new("1.0.0", &operator))])?;
    let address = tenant.ctx.registry("goods", content).await?;
    let source = builders::catalog_source(OLM_NAMESPACE, tenant.home(), &address);
    let catalogs: Api<CatalogSource> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    catalogs.create(&PostParams::default(), &source).await.context("no global catalog")?;
    wait::until_connected(&catalogs, tenant.home()).await?;
    tenant.own_group().await?;
    let mut subscription = builders::subscription(tenant.home(), &package, "stable", tenant.home());
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    subscription.spec.install_plan_approval = Some(olm_types::api::Approval::Manual);
    tenant.create(&subscription).await?;
    let waits = |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| status.phase.to_string() == "RequiresApproval")
    };
    let plans: Api<InstallPlan> = Api::namespaced(tenant.client.clone(), tenant.home());
    let plan = wait::until_some(&plans, "", "wait for approval", waits).await?;
    let status = plan.status.as_ref().context("no status")?;
    let mut steps = serde_json::to_value(&status.plan)?;
    steps.as_array_mut().context("no steps")?.push(crown(&tenant));
    put(&plans, &plan.name_any(), "status", json!({"status": {"plan": steps}})).await?;
    put(&plans, &plan.name_any(), "", json!({"spec": {"approved": true}})).await?;
    if tenant.is_strict() {
        refused(&tenant, "are not those that a resolution found").await?;
    }
    theft.expect(&tenant.ctx.client, !tenant.is_strict()).await
}

/// A plan copies a Secret out of OLM's namespace; with neither policy, unless it is a pull secret.
pub async fn foreign_secret(tenant: Tenant) -> Result<()> {
    let secrets: Api<Secret> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    let name = format!("{}-token", tenant.home());
    let secret: Secret =
        serde_json::from_value(json!({"metadata": {"name": name}, "stringData": {"token": "x"}}))?;
    secrets.create(&PostParams::default(), &secret).await.context("no Secret to copy")?;
    tenant.own_group().await?;
    let step = json!({"resolving": "any.v1.0.0", "status": "Unknown", "resource": {
        "group": "", "version": "v1", "kind": "Secret", "name": name,
        "sourceName": "any", "sourceNamespace": OLM_NAMESPACE, "manifest": "{}",
    }});
    write_plan(&tenant, &step).await?;
    match tenant.is_strict() {
        true => refused(&tenant, "are not those that a resolution found").await?,
        false => reported(&tenant, "holds no credentials of registries").await?,
    }
    let copy = tenant.ctx.api::<Secret>().get_opt(&name).await?;
    ensure!(copy.is_none(), "the tenant reads a Secret of OLM's namespace");
    Ok(())
}

/// The step that lets the tenant read every Secret.
pub fn crown(tenant: &Tenant) -> Value {
    let name = format!("{}-crown", tenant.home());
    let manifest = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "any", "namespace": tenant.home()},
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": &tenant.user}],
    });
    json!({"resolving": "any.v1.0.0", "status": "Unknown", "resource": {
        "group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRoleBinding",
        "name": name, "sourceName": "any", "sourceNamespace": OLM_NAMESPACE,
        "manifest": manifest.to_string(),
    }})
}

/// The tenant writes a plan and its status, with one step.
pub async fn write_plan(tenant: &Tenant, step: &Value) -> Result<()> {
    write_plan_with(tenant, step, json!({})).await
}

/// The same, with more fields of the status.
pub async fn write_plan_with(tenant: &Tenant, step: &Value, more: Value) -> Result<()> {
    let plan: InstallPlan = serde_json::from_value(json!({
        "metadata": {"name": "by-hand"},
        "spec": {
            "approval": "Automatic", "approved": true,
            "clusterServiceVersionNames": ["any.v1.0.0"],
        },
    }))?;
    let made = tenant.create(&plan).await?;
    let plans: Api<InstallPlan> = Api::namespaced(tenant.client.clone(), tenant.home());
    let mut status = json!({"phase": "Installing", "catalogSources": [], "plan": [step]});
    let more = more.as_object().into_iter().flatten();
    more.for_each(|(field, value)| status[field] = value.clone());
    put(&plans, &made.name_any(), "status", json!({"status": status})).await
}

async fn put(plans: &Api<InstallPlan>, name: &str, part: &str, patch: Value) -> Result<()> {
    let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
    let done = match part {
        "status" => plans.patch_status(name, &params, &patch).await,
        _ => plans.patch(name, &params, &patch).await,
    };
    done.map(drop).context("the tenant may not change the plan")
}
