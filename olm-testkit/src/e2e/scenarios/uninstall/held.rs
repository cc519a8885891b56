//! Whom a plan was made for is looked at again when its turn comes.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use olm_types::api::{
    Approval, ClusterServiceVersion, InstallPlan, InstallPlanPhase, Subscription,
};
use olm_types::conditions::install_plan::INSTALLED;
use serde_json::json;

use super::two_plans::{NEW, OLD, TwoPlans, UserObject, delete, phase};
use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::wait;

/// A finalizer keeps the Subscription; the older plan goes.
pub(super) async fn subscription_being_deleted(ctx: Arc<TestContext>) -> Result<()> {
    let plans = TwoPlans::begin(&ctx).await?;
    delete_kept(&ctx).await?;
    remove_older(&ctx, &plans).await?;
    held(&ctx, &plans, "the Subscription that this InstallPlan was made for is being deleted")
        .await?;
    finalizers(&ctx, &[]).await?;
    wait::until_gone(&ctx.api::<InstallPlan>(), &plans.newer).await?;
    ctx.until_idle().await?;
    plans.next_version_never_came()
}

/// The Subscription goes without its newer plan. `kubectl delete --cascade=orphan` takes the owners
/// away in the same way, as soon as the garbage collector of the cluster knows the kind.
pub(super) async fn orphaned_plans(ctx: Arc<TestContext>) -> Result<()> {
    let plans = TwoPlans::begin(&ctx).await?;
    delete_kept(&ctx).await?;
    let orphan = Patch::Merge(json!({"metadata": {"ownerReferences": null}}));
    let api: Api<InstallPlan> = ctx.api();
    api.patch(&plans.newer, &PatchParams::default(), &orphan).await.context("cannot orphan it")?;
    finalizers(&ctx, &[]).await?;
    wait::until_gone(&ctx.api::<Subscription>(), "kettle").await?;
    remove_older(&ctx, &plans).await?;
    held(&ctx, &plans, "no Subscription refers to this InstallPlan any more; delete it").await?;
    ctx.until_idle().await?;
    plans.next_version_never_came()
}

/// Deletes the Subscription, which a finalizer keeps.
async fn delete_kept(ctx: &TestContext) -> Result<()> {
    finalizers(ctx, &["example.com/keep"]).await?;
    delete(ctx, UserObject::Subscription).await
}

async fn finalizers(ctx: &TestContext, finalizers: &[&str]) -> Result<()> {
    let patch = Patch::Merge(json!({"metadata": {"finalizers": finalizers}}));
    let api: Api<Subscription> = ctx.api();
    let patched = api.patch("kettle", &PatchParams::default(), &patch).await;
    patched.map(drop).context("cannot set finalizers")
}

/// The CSV goes first, the Subscription comes last.
pub(super) async fn replaced_csv_deleted(ctx: Arc<TestContext>) -> Result<()> {
    let plans = TwoPlans::begin(&ctx).await?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    csvs.delete(OLD, &DeleteParams::default()).await?;
    wait::until_gone(&csvs, OLD).await?;
    remove_older(&ctx, &plans).await?;
    let text = format!("ClusterServiceVersion {OLD}, which {NEW} would replace, was deleted");
    held(&ctx, &plans, &text).await?;
    delete(&ctx, UserObject::Subscription).await?;
    wait::until_gone(&ctx.api::<InstallPlan>(), &plans.newer).await?;
    ctx.until_idle().await?;
    plans.next_version_never_came()
}

/// Two operators in one plan, as one needs the other; it waits for a user, and one Subscription goes before the
/// approval.
pub(super) async fn one_of_two(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let blades = ctx.kind("Blade");
    let knife = Bundle::new("1.0.0", &operator("knife", "1.0.0", &blades)).provides(&blades);
    let fork = csv("fork.v1.0.0", "1.0.0").deployment("fork", "default").requires(&blades);
    let fork = Bundle::new("1.0.0", &fork).requires(&blades);
    for name in ["fork", "knife"] {
        let mut subscription = builders::subscription(&ctx.namespace, name, "stable", "drawer");
        subscription.spec.install_plan_approval = Some(Approval::Manual);
        ctx.create(&subscription).await?;
    }
    ctx.catalog("drawer", &[Package::single("fork", fork), Package::single("knife", knife)])
        .await?;
    let both = until_approval(&ctx, &["fork.v1.0.0", "knife.v1.0.0"]).await?;
    ctx.api::<Subscription>().delete("fork", &DeleteParams::default()).await?;
    approve(&ctx, &both).await?;
    wait::until_gone(&ctx.api::<InstallPlan>(), &both).await?;
    let one = until_approval(&ctx, &["knife.v1.0.0"]).await?;
    approve(&ctx, &one).await?;
    ctx.succeeded("knife.v1.0.0").await?;
    let csvs = ctx.api::<ClusterServiceVersion>().list(&ListParams::default()).await?.items;
    ensure!(csvs.iter().all(|csv| csv.name_any() == "knife.v1.0.0"), "the fork is there");
    Ok(())
}

/// The older plan goes, so that the newer one is next.
async fn remove_older(ctx: &TestContext, plans: &TwoPlans) -> Result<()> {
    let api: Api<InstallPlan> = ctx.api();
    // The garbage collector may have been faster.
    api.delete(&plans.older, &DeleteParams::default()).await.ok();
    wait::until_gone(&api, &plans.older).await
}

/// Waits until the newer plan says why it is not executed.
async fn held(ctx: &TestContext, plans: &TwoPlans, why: &str) -> Result<()> {
    let says = |plan: &InstallPlan| {
        let conditions = plan.status.iter().flat_map(|status| &status.conditions);
        let mut installed =
            conditions.filter(|condition| condition.type_.as_deref() == Some(INSTALLED));
        installed.any(|condition| {
            condition.reason.as_deref() == Some("InstallCheckFailed")
                && condition.message.as_deref().is_some_and(|text| text.starts_with(why))
        })
    };
    wait::until(&ctx.api(), &plans.newer, "say why it is not executed", says).await.map(drop)
}

async fn until_approval(ctx: &TestContext, csvs: &[&str]) -> Result<String> {
    let plans = ctx.api::<InstallPlan>();
    let plan = wait::until_some(&plans, "", "wait for approval", |plan| {
        let mut names = plan.spec.cluster_service_version_names.clone();
        names.sort_unstable();
        names == csvs && phase(plan) == InstallPlanPhase::RequiresApproval
    });
    Ok(plan.await?.name_any())
}

async fn approve(ctx: &TestContext, plan: &str) -> Result<()> {
    let approve = Patch::Merge(json!({"spec": {"approved": true}}));
    let plans = ctx.api::<InstallPlan>();
    plans.patch(plan, &PatchParams::default(), &approve).await.map(drop).context("cannot approve")
}
