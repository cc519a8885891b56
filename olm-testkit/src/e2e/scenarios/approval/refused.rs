//! CSVs that the API server refuses for a while, so that the InstallPlan that brings them is not done.

use anyhow::{Context, Result, anyhow, ensure};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use olm_types::api::{ClusterServiceVersion, InstallPlan, InstallPlanPhase};
use serde_json::json;

use crate::builders;
use crate::e2e::context::TestContext;
use crate::wait;

/// What the API server says.
const WHY: &str = "it is held for a while";

/// Has the API server refuse a CSV from now on.
pub(super) async fn refuse(ctx: &TestContext, csv: &str) -> Result<()> {
    let name = ctx.namespace.as_str();
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["operators.coreos.com"], "apiVersions": ["v1alpha1"],
                "operations": ["CREATE"], "resources": ["clusterserviceversions"],
            }]},
            "validations": [{"expression": format!("object.metadata.name != '{csv}'"), "message": WHY}],
        },
    }))?;
    let here = json!({"matchLabels": {"kubernetes.io/metadata.name": name}});
    let binding: ValidatingAdmissionPolicyBinding = serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {
            "policyName": name, "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": here},
        },
    }))?;
    let once = PostParams::default();
    Api::all(ctx.client.clone()).create(&once, &policy).await.context("no policy")?;
    Api::all(ctx.client.clone()).create(&once, &binding).await.context("no binding")?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    let tried = builders::csv(csv, "1.0.0").build();
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    wait::until_ok("is refused by a policy", async || match csvs.create(&dry_run, &tried).await {
        Err(error) if error.to_string().contains(WHY) => Ok(()),
        other => Err(anyhow!("it is not: {other:?}")),
    })
    .await
}

/// Has it refuse nothing any more.
pub(super) async fn accept(ctx: &TestContext) -> Result<()> {
    let (name, now) = (ctx.namespace.as_str(), DeleteParams::default());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(ctx.client.clone());
    bindings.delete(name, &now).await.context("the binding stays")?;
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(ctx.client.clone());
    policies.delete(name, &now).await.map(drop).context("the policy stays")
}

/// Waits until a plan says that a CSV of it is refused.
pub(super) async fn tried(ctx: &TestContext) -> Result<InstallPlan> {
    let is_tried = |plan: &InstallPlan| {
        let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
        plan.phase() == InstallPlanPhase::Installing
            && message.is_some_and(|text| text.contains(WHY))
    };
    wait::until_some(&ctx.api::<InstallPlan>(), "", "be refused a CSV", is_tried).await
}

/// Has a plan fail that was refused a CSV, as if it had been tried for longer than plans are.
pub(super) async fn fail(ctx: &TestContext, plan: &InstallPlan) -> Result<InstallPlan> {
    let name = plan.name_any();
    let long_ago = json!({"startTime": "1970-01-01T00:00:00Z"});
    ctx.edit_status::<InstallPlan>(&name, long_ago).await?;
    let has_failed = |plan: &InstallPlan| plan.phase() == InstallPlanPhase::Failed;
    let failed = wait::until(&ctx.api(), &name, "fail", has_failed).await?;
    let message = failed.status.as_ref().and_then(|status| status.message.as_deref());
    ensure!(message.is_some_and(|text| text.contains(WHY)), "it says {message:?}");
    Ok(failed)
}
