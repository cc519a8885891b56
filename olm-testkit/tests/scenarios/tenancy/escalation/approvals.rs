//! Subscriptions whose status the tenant writes while an InstallPlan waits for approval.

use anyhow::{Result, ensure};
use kube::ResourceExt;
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::wait;
use olm_types::annotations::VERSION_RANGE;
use olm_types::api::{
    Approval, ClusterServiceVersion, InstallPlan, InstallPlanPhase, Subscription,
};
use serde_json::json;

use super::super::review::Request;
use super::bundles::installer;
use super::plans::concluded;
use super::tenant::Tenant;

/// The package, and the catalog that has it.
const STOVE: &str = "stove";

/// The only version of the package.
const CSV: &str = "stove.v1.0.0";

/// The Subscription accepts no version that there is, and its status says that it moves to something else than the
/// plan brings: the plan is held all the same, approved or not. And who may edit Subscriptions by the role of an
/// administrator of the namespace may not write what they say is installed.
pub async fn forged_approvals(tenant: Tenant) -> Result<()> {
    status_needs_a_right(&tenant).await?;
    installer(&tenant).await?;
    let plan = waiting_plan(&tenant).await?;
    let range = json!({"metadata": {"annotations": {VERSION_RANGE: "<1.0.0"}}});
    tenant.put::<Subscription>(STOVE, range).await?;
    let unmet = "ConstraintsNotSatisfiable";
    tenant.ctx.condition(STOVE, "ResolutionFailed", "True", unmet).await?;
    tenant.put_status::<Subscription>(STOVE, json!({"currentCSV": "other.v1.0.0"})).await?;
    tenant.put::<InstallPlan>(&plan, json!({"spec": {"approved": true}})).await?;
    concluded(&tenant, "accepts only").await?;
    tenant.ctx.until_idle().await?;
    concluded(&tenant, "accepts only").await?;
    let made = tenant.ctx.api::<ClusterServiceVersion>().get_opt(CSV).await?;
    ensure!(made.is_none(), "a forged status has a version installed that is not accepted");
    Ok(())
}

/// Who has the ClusterRole `admin` in the namespace may write Subscriptions, and neither their status nor plans.
async fn status_needs_a_right(tenant: &Tenant) -> Result<()> {
    let user = format!("editor-of-{}", tenant.home());
    let subject =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.as_str()});
    tenant.bind("editor", "ClusterRole", "admin", subject).await?;
    let may = |resource| Request {
        user: &user,
        verb: "update",
        resource: ("operators.coreos.com", resource),
        namespace: tenant.home(),
    };
    may("subscriptions").expect(&tenant.ctx.client, true).await?;
    for resource in ["subscriptions/status", "installplans", "installplans/status"] {
        may(resource).expect(&tenant.ctx.client, false).await?;
    }
    Ok(())
}

/// A Manual Subscription, and the name of the InstallPlan that waits for its approval.
async fn waiting_plan(tenant: &Tenant) -> Result<String> {
    let operator = csv(CSV, "1.0.0").deployment(STOVE, "default");
    let stoves = Package::single(STOVE, Bundle::new("1.0.0", &operator));
    tenant.ctx.catalog(STOVE, &[stoves]).await?;
    let mut subscription = builders::subscription(tenant.home(), STOVE, "stable", STOVE);
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    tenant.create(&subscription).await?;
    let waits = |plan: &InstallPlan| {
        let phase = plan.status.as_ref().map(|status| status.phase);
        phase == Some(InstallPlanPhase::RequiresApproval)
    };
    let plans = tenant.ctx.api::<InstallPlan>();
    let plan = wait::until_some(&plans, "", "wait for approval", waits).await?;
    Ok(plan.name_any())
}
