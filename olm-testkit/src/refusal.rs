//! CSVs that the API server refuses for a while, so that the InstallPlan that brings them is not done.

use anyhow::{Context, Result, anyhow, ensure};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use olm_types::api::{ClusterServiceVersion, InstallPlan, InstallPlanPhase};
use serde_json::json;

use crate::builders;
use crate::wait;

/// What the API server says.
const WHY: &str = "it is held for a while";

/// Has the API server refuse a CSV in a namespace from now on.
///
/// # Errors
/// It does not, or takes no policy.
pub async fn refuse(client: &Client, namespace: &str, csv: &str) -> Result<()> {
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(json!({
        "metadata": {"name": namespace},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["operators.coreos.com"], "apiVersions": ["v1alpha1"],
                "operations": ["CREATE"], "resources": ["clusterserviceversions"],
            }]},
            "validations": [{"expression": format!("object.metadata.name != '{csv}'"), "message": WHY}],
        },
    }))?;
    let here = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
    let binding: ValidatingAdmissionPolicyBinding = serde_json::from_value(json!({
        "metadata": {"name": namespace},
        "spec": {
            "policyName": namespace, "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": here},
        },
    }))?;
    let once = PostParams::default();
    Api::all(client.clone()).create(&once, &policy).await.context("no policy")?;
    Api::all(client.clone()).create(&once, &binding).await.context("no binding")?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
    let tried = builders::csv(csv, "1.0.0").build();
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    wait::until_ok("is refused by a policy", async || match csvs.create(&dry_run, &tried).await {
        Err(error) if error.to_string().contains(WHY) => Ok(()),
        other => Err(anyhow!("it is not: {other:?}")),
    })
    .await
}

/// Has it refuse nothing in the namespace any more.
///
/// # Errors
/// It refused nothing.
pub async fn accept(client: &Client, namespace: &str) -> Result<()> {
    let now = DeleteParams::default();
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(client.clone());
    bindings.delete(namespace, &now).await.context("the binding stays")?;
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    policies.delete(namespace, &now).await.map(drop).context("the policy stays")
}

/// Waits until a plan says that a CSV of it is refused.
///
/// # Errors
/// None does in time.
pub async fn tried(plans: &Api<InstallPlan>) -> Result<InstallPlan> {
    let is_tried =
        |plan: &InstallPlan| plan.phase() == InstallPlanPhase::Installing && says_why(plan);
    wait::until_some(plans, "", "be refused a CSV", is_tried).await
}

/// Has a plan fail that was refused a CSV, as if it had been tried for longer than plans are.
///
/// # Errors
/// It does not fail in time, or for another reason.
pub async fn fail(plans: &Api<InstallPlan>, plan: &InstallPlan) -> Result<InstallPlan> {
    let name = plan.name_any();
    let long_ago = Patch::Merge(json!({"status": {"startTime": "1970-01-01T00:00:00Z"}}));
    let written = plans.patch_status(&name, &PatchParams::default(), &long_ago).await;
    written.context("the plan keeps its start")?;
    let has_failed = |plan: &InstallPlan| plan.phase() == InstallPlanPhase::Failed;
    let failed = wait::until(plans, &name, "fail", has_failed).await?;
    ensure!(says_why(&failed), "it says {:?}", failed.status);
    Ok(failed)
}

fn says_why(plan: &InstallPlan) -> bool {
    let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
    message.is_some_and(|text| text.contains(WHY))
}
