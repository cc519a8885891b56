//! A next version that is there while the plan of the first one still brings a dependency.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use olm_types::api::{ClusterServiceVersion, InstallPlan};
use serde_json::json;

use super::{NEW, OLD, apart, approve, waiting_plan};
use crate::builders::{self, Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::wait;

/// The dependency, whose CSV comes after that of the operator: bundles are in the order of their packages.
const LID: &str = "lid.v1.0.0";

/// The dependency's CSV is refused for a while, so that only the CSV of the operator is there: the plan of the next
/// version is made when both are, and does not bring the dependency once more.
pub(super) async fn a_dependency(ctx: Arc<TestContext>) -> Result<()> {
    let (kettles, lids) = (ctx.kind("Kettle"), ctx.kind("Lid"));
    let kettle = |version: &str| {
        let csv = operator("kettle", version, &kettles).requires(&lids);
        Bundle::new(version, &csv).provides(&kettles).requires(&lids)
    };
    let versions = vec![kettle("1.0.0"), kettle("1.1.0").replaces(OLD)];
    let lid = Bundle::new("1.0.0", &operator("lid", "1.0.0", &lids)).provides(&lids);
    ctx.operator_group().await?;
    refuse(&ctx).await?;
    let packages =
        [Package::new("kettle").channel("stable", versions), Package::single("lid", lid)];
    ctx.catalog("kitchen", &packages).await?;
    let mut subscription = apart::manual(&ctx, "kettle");
    subscription.spec.starting_csv = Some(OLD.to_owned());
    ctx.create(&subscription).await?;

    let first = apart::waiting(&ctx, "kettle").await?;
    let names = &first.spec.cluster_service_version_names;
    ensure!(names.iter().any(|csv| csv == LID), "the plan is for {names:?}");
    approve(&ctx, &first).await?;
    wait::until(&ctx.api(), OLD, "be there", |_: &ClusterServiceVersion| true).await?;
    wait::until(&ctx.api(), &first.name_any(), "be tried again", |plan: &InstallPlan| {
        let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|text| text.contains("the lid is held"))
    })
    .await?;
    accept(&ctx).await?;
    // It names the new version alone.
    let next = waiting_plan(&ctx, NEW, 2).await?;
    ctx.succeeded(LID).await?;
    ctx.succeeded(OLD).await?;
    approve(&ctx, &next).await?;
    ctx.at_latest("kettle", NEW).await?;
    ctx.succeeded(NEW).await.map(drop)
}

/// Has the API server refuse the CSV of the dependency.
async fn refuse(ctx: &TestContext) -> Result<()> {
    let name = ctx.namespace.as_str();
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["operators.coreos.com"], "apiVersions": ["v1alpha1"],
                "operations": ["CREATE"], "resources": ["clusterserviceversions"],
            }]},
            "validations": [{
                "expression": format!("object.metadata.name != '{LID}'"),
                "message": "the lid is held",
            }],
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
    let lid = builders::csv(LID, "1.0.0").build();
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    wait::until_ok("is refused by a policy", async || match csvs.create(&dry_run, &lid).await {
        Err(error) if error.to_string().contains("the lid is held") => Ok(()),
        other => Err(anyhow!("it is not: {other:?}")),
    })
    .await
}

async fn accept(ctx: &TestContext) -> Result<()> {
    let (name, now) = (ctx.namespace.as_str(), DeleteParams::default());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(ctx.client.clone());
    bindings.delete(name, &now).await.context("the binding stays")?;
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(ctx.client.clone());
    policies.delete(name, &now).await.map(drop).context("the policy stays")
}
