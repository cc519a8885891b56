//! An OperatorGroup with a ServiceAccount: its operators are installed with that account's rights.

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use olm_types::api::{CsvPhase, InstallPlanPhase, OperatorGroup};
use serde_json::{Value, json};

use super::{is_in, message, plan};
use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::context::{TestContext, same};
use crate::wait;

const CSV: &str = "tenant.v1.0.0";

/// The account is missing, then it lacks the rights for the plan, then those for the Deployment.
pub(super) async fn an_account_gets_its_rights(ctx: Arc<TestContext>) -> Result<()> {
    let mut group = builders::operator_group(&ctx.namespace, "group", &[&ctx.namespace]);
    group.spec.service_account_name = Some("installer".to_owned());
    ctx.create(&group).await?;
    check_missing(&ctx).await?;
    let operator = csv(CSV, "1.0.0").deployment("tenant", "default");
    ctx.catalog("shelf", &[Package::single("tenant", Bundle::new("1.0.0", &operator))]).await?;
    ctx.subscribe("tenant", "shelf").await?;
    check_plan_without_account(&ctx).await?;

    ctx.create(&builders::service_account(&ctx.namespace, "installer")).await?;
    check_plan_without_rights(&ctx).await?;
    allow(
        &ctx,
        "steps",
        json!([{"apiGroups": ["operators.coreos.com"], "resources": ["*"], "verbs": ["*"]}]),
    )
    .await?;
    let done = plan(&ctx, "be complete", |plan| is_in(plan, InstallPlanPhase::Complete)).await?;
    let account = done.status.and_then(|status| status.attenuated_service_account_ref);
    same(account.and_then(|account| account.name).as_deref(), "installer")?;

    let reason = "InstallComponentFailedNoRetry";
    let failed = ctx.csv_phase(CSV, CsvPhase::Failed, reason).await?;
    let text = failed.status.and_then(|status| status.message).unwrap_or_default();
    ensure!(text.contains("cannot create resource \"deployments\""), "{text}");
    allow(
        &ctx,
        "deployments",
        json!([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]}]),
    )
    .await?;
    ctx.succeeded(CSV).await?;
    let account: ServiceAccount = ctx.api().get("installer").await?;
    same(account.labels().get("olm.managed").map(String::as_str), "true")?;
    give_up_account(&ctx).await
}

async fn check_plan_without_rights(ctx: &TestContext) -> Result<()> {
    plan(ctx, "lack the right to create a CSV", |plan| {
        message(plan)
            .starts_with("retrying execution due to error: error creating csv tenant.v1.0.0: ")
            && message(plan).contains("cannot create resource \"clusterserviceversions\"")
    })
    .await
    .map(drop)
}

async fn check_missing(ctx: &TestContext) -> Result<()> {
    let reported = |group: &OperatorGroup| {
        group.status.iter().flat_map(|status| &status.conditions).any(|condition| {
            condition.type_ == "OperatorGroupServiceAccount"
                && condition.status == "True"
                && condition.reason == "ServiceAccountNotFound"
                && condition.message == "ServiceAccount installer not found"
        })
    };
    wait::until(&ctx.api(), "group", "miss its account", reported).await.map(drop)
}

async fn check_plan_without_account(ctx: &TestContext) -> Result<()> {
    let text = format!(
        "please make sure the service account exists. sa=installer operatorgroup={}/group",
        ctx.namespace
    );
    let text = text.as_str();
    plan(ctx, "miss the account of its group", move |plan| {
        plan.status.iter().flat_map(|status| &status.conditions).any(|condition| {
            condition.reason.as_deref() == Some("InstallCheckFailed")
                && condition.message.as_deref() == Some(text)
        })
    })
    .await
    .map(drop)
}

/// Gives the account these rights in the namespace.
pub(super) async fn allow(ctx: &TestContext, name: &str, rules: Value) -> Result<()> {
    let role: Role = serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": ctx.namespace}, "rules": rules,
    }))?;
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": ctx.namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "installer", "namespace": ctx.namespace}],
    }))?;
    ctx.create(&role).await?;
    ctx.create(&binding).await.map(drop)
}

/// A group that names no account any more keeps nothing of it.
async fn give_up_account(ctx: &TestContext) -> Result<()> {
    let patch = Patch::Merge(json!({"spec": {"serviceAccountName": null}}));
    ctx.api::<OperatorGroup>().patch("group", &PatchParams::default(), &patch).await?;
    let forgotten = |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| status.service_account_ref.is_none())
    };
    wait::until(&ctx.api(), "group", "forget its account", forgotten).await.map(drop)
}
