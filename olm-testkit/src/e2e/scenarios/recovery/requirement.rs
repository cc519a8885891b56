//! Something that an operator requires is deleted, and given back.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::RoleBinding;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, RequirementStatus,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};

use super::steps::{anew, delete};
use crate::e2e::context::{TestContext, same};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::requirement::crd",
            "a CSV names its kind that was deleted, and succeeds with it again",
            crd,
        ),
        scenario(
            "recovery::requirement::account",
            "a CSV names its account that was deleted, and succeeds with it again",
            account,
        ),
        scenario(
            "recovery::requirement::binding",
            "a CSV names the rights that are missing, and succeeds with them again",
            binding,
        ),
    ]
}

/// How often it is asked whether a kind can be listed.
const ASK: Duration = Duration::from_millis(50);

/// The kind that the operator owns.
async fn crd(ctx: Arc<TestContext>) -> Result<()> {
    let crd = ctx.kind("Bowl");
    ctx.install("bowl", &crd).await?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    is_listed(&ctx, &crds.get(&crd.name()).await?).await?;
    let missing =
        |all: &[RequirementStatus]| says(all, &crd.name(), "NotPresent", "CRD is not present");
    lost_and_found(&ctx, "bowl.v1.0.0", &crds, &crd.name(), missing).await
}

/// The account that the operator runs as.
async fn account(ctx: Arc<TestContext>) -> Result<()> {
    ctx.install("cup", &ctx.kind("Cup")).await?;
    let missing = |all: &[RequirementStatus]| {
        says(all, "cup", "NotPresent", "Service account does not exist")
    };
    lost_and_found(&ctx, "cup.v1.0.0", &ctx.api::<ServiceAccount>(), "cup", missing).await
}

/// The binding through which the account has its rights.
async fn binding(ctx: Arc<TestContext>) -> Result<()> {
    ctx.install("jug", &ctx.kind("Jug")).await?;
    let bindings: Api<RoleBinding> = ctx.api();
    let found = bindings.list(&ListParams::default().labels("olm.owner=jug.v1.0.0")).await?;
    let binding = found.items.first().context("there is no RoleBinding")?.name_any();
    let missing = |all: &[RequirementStatus]| {
        let rule = all.iter().flat_map(|one| &one.dependents).any(|rule| {
            let text = rule.message.as_deref().unwrap_or_default();
            rule.status == "NotSatisfied" && text.contains(r#""resources":["pods"]"#)
        });
        let message = "Policy rule not satisfied for service account";
        rule && says(all, "jug", "PresentNotSatisfied", message)
    };
    lost_and_found(&ctx, "jug.v1.0.0", &bindings, &binding, missing).await
}

/// Waits until the objects of a kind can be listed. The API server never finishes the deletion of
/// a kind that was not listed before when its storage is not ready at that moment.
async fn is_listed(ctx: &TestContext, crd: &CustomResourceDefinition) -> Result<()> {
    let version = crd.spec.versions.first().context("a kind without versions")?;
    let gvk = GroupVersionKind::gvk(&crd.spec.group, &version.name, &crd.spec.names.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &crd.spec.names.plural);
    let objects: Api<DynamicObject> = Api::all_with(ctx.client.clone(), &resource);
    let deadline = Instant::now() + wait::TIMEOUT;
    while let Err(error) = objects.list(&ListParams::default()).await {
        ensure!(Instant::now() < deadline, "{} cannot be listed: {error}", crd.name_any());
        sleep(ASK).await;
    }
    Ok(())
}

/// Deletes an object that an InstallPlan made, reads what the CSV says, and applies the object
/// again as a person would.
async fn lost_and_found<K>(
    ctx: &TestContext,
    csv: &str,
    api: &Api<K>,
    name: &str,
    missing: impl Fn(&[RequirementStatus]) -> bool,
) -> Result<()>
where
    K: wait::Waitable + Serialize + DeserializeOwned,
{
    let before = ctx.succeeded(csv).await?;
    let lost = api.get(name).await.context("there is nothing to delete")?;
    delete(api, name).await?;
    wait::until_gone(api, name).await?;
    let reported = |csv: &ClusterServiceVersion| {
        let status = csv.status.as_ref();
        status.is_some_and(|s| s.phase == CsvPhase::Pending && missing(&s.requirement_status))
    };
    let pending = wait::until(&ctx.api(), csv, "name what is missing", reported).await?;
    let status = pending.status.unwrap_or_default();
    same(status.reason.as_deref(), "RequirementsNotMet")?;
    ctx.announced(csv, "RequirementsNotMet", "requirements no longer met").await?;
    check_plan(ctx).await?;
    api.create(&PostParams::default(), &anew(lost)).await.context("cannot give it back")?;
    let through = [
        (CsvPhase::Failed, "RequirementsNotMet", "requirements no longer met"),
        (CsvPhase::Pending, "RequirementsNotMet", "requirements not met"),
        (
            CsvPhase::InstallReady,
            "AllRequirementsMet",
            "all requirements found, attempting install",
        ),
    ];
    let after = ctx.recovered(&before, &through).await?;
    let unmet = after.status.unwrap_or_default().requirement_status;
    ensure!(unmet.iter().all(|one| one.status == "Present"), "{unmet:?}");
    ctx.until_idle().await
}

fn says(all: &[RequirementStatus], name: &str, status: &str, message: &str) -> bool {
    all.iter().any(|one| one.name == name && one.status == status && one.message == message)
}

/// The plan that made the object is done and makes nothing a second time.
async fn check_plan(ctx: &TestContext) -> Result<()> {
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?;
    let phases: Vec<_> =
        plans.iter().filter_map(|plan| Some(plan.status.as_ref()?.phase)).collect();
    ensure!(phases == [InstallPlanPhase::Complete], "InstallPlans are {phases:?}");
    Ok(())
}
