//! InstallPlans that wait for a person.

mod admission;
mod apart;
mod creations;
mod declared;
mod malformed;
mod pairs;
mod taken_back;
mod to_come;
mod together;
mod versions;

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Event, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, Role};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use olm_types::api::{
    Approval, ClusterServiceVersion, InstallPlan, InstallPlanPhase, StepStatus, Subscription,
    SubscriptionState,
};
use olm_types::conditions::readiness;
use olm_types::labels;
use serde_json::json;

use crate::builders::{self, Bundle};
use crate::e2e::context::{TestContext, conditions};
use crate::e2e::scenarios::upgrades::{Recorded, kettle, kettles, stable};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    let groups = [
        approvals(),
        apart::all(),
        versions::all(),
        malformed::all(),
        taken_back::all(),
        pairs::all(),
    ];
    groups.into_iter().flatten().collect()
}

fn approvals() -> Vec<Scenario> {
    vec![
        scenario(
            "approval::nothing_happens_before",
            "before the approval nothing of a plan exists, after it everything does",
            nothing_happens_before,
        ),
        scenario(
            "approval::a_deleted_plan",
            "a plan that is deleted before its approval is made anew",
            a_deleted_plan_is_made_anew,
        ),
        scenario(
            "approval::an_upgrade",
            "an approval is for one plan, the next version waits again",
            an_upgrade_waits_again,
        ),
        scenario(
            "approval::of_a_changed_plan",
            "an approval of a plan that changed in between counts when the plan is as it was",
            of_a_changed_plan,
        ),
        scenario(
            "approval::from_the_starting_csv",
            "startingCSV is approved first, what came after it is a plan of its own",
            from_the_starting_csv,
        ),
        scenario(
            "approval::a_dependency_to_come",
            "while a plan still brings a dependency no plan of the next version is made, which would bring it again",
            to_come::a_dependency,
        ),
        scenario(
            "approval::in_annotations",
            "a Subscription says which versions are approved, and that the first one needs no approval",
            declared::in_annotations,
        ),
        scenario(
            "approval::paused",
            "a Subscription that is paused gets no new plan, and none that is approved is begun",
            declared::paused,
        ),
        scenario(
            "approval::all_at_once",
            "pins, approvals, Manual siblings, fail-forward and a dead catalog meet, and nothing is created unapproved",
            together::all_at_once,
        ),
        scenario(
            "approval::admission",
            "the admission policy refuses annotations that cannot be read, and approvals without the right",
            admission::is_checked,
        ),
    ]
}

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v1.1.0";

/// Before the approval nothing of the plan exists; after it everything does.
async fn nothing_happens_before(ctx: Arc<TestContext>) -> Result<()> {
    publish(&ctx, &versions(&ctx)[..1]).await?;
    subscribe(&ctx, None).await?;
    let plan = waiting_plan(&ctx, OLD, 1).await?;
    let subscription =
        ctx.condition("kettle", "InstallPlanPending", "True", "RequiresApproval").await?;
    ensure!(subscription.message.is_none(), "{subscription:?}");
    ctx.until_idle().await?;
    check_nothing(&ctx).await?;
    says_once_that_it_waits(&ctx, &plan).await?;

    approve(&ctx, &plan).await?;
    ctx.succeeded(OLD).await?;
    let subscription = ctx.at_latest("kettle", OLD).await?;
    let plan = ctx.plan_of(&subscription).await?.status.unwrap_or_default();
    ensure!(plan.phase == InstallPlanPhase::Complete, "the plan is {}", plan.phase);
    Ok(())
}

/// An event says what the plan would install, and it is not said again.
async fn says_once_that_it_waits(ctx: &TestContext, plan: &InstallPlan) -> Result<()> {
    let (name, reason) = (plan.name_any(), "RequiresApproval");
    let message = format!("waits for approval to install {OLD}");
    ctx.announced(&name, reason, &message).await?;
    let about = format!("involvedObject.name={name},reason={reason}");
    let events = ctx.api::<Event>().list(&ListParams::default().fields(&about)).await?.items;
    let times: i32 = events.iter().map(|event| event.count.unwrap_or(1)).sum();
    ensure!(times == 1, "it was said {times} times: {events:?}");
    Ok(())
}

/// A plan that is deleted before its approval is made anew.
async fn a_deleted_plan_is_made_anew(ctx: Arc<TestContext>) -> Result<()> {
    let recorded = Recorded::begin(&ctx).await?;
    publish(&ctx, &versions(&ctx)[..1]).await?;
    subscribe(&ctx, None).await?;
    let first = waiting_plan(&ctx, OLD, 1).await?;
    let plans: Api<InstallPlan> = ctx.api();
    plans.delete(&first.name_any(), &DeleteParams::default()).await.context("cannot delete")?;

    let second = waiting_plan(&ctx, OLD, 2).await?;
    ensure!(first.uid() != second.uid(), "the plan is still there");
    check_nothing(&ctx).await?;
    approve(&ctx, &second).await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;
    let way = [
        "- - - -",
        "UpgradePending kettle.v1.0.0 - 1",
        "- - - 1",
        "UpgradePending kettle.v1.0.0 - 2",
        "AtLatestKnown kettle.v1.0.0 kettle.v1.0.0 2",
    ];
    recorded.check_subscription("kettle", &way).await
}

/// An approval is for one plan; the next version waits again, and the old one stays at work.
async fn an_upgrade_waits_again(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, versions) = (Recorded::begin(&ctx).await?, versions(&ctx));
    publish(&ctx, &versions[..1]).await?;
    subscribe(&ctx, None).await?;
    approve(&ctx, &waiting_plan(&ctx, OLD, 1).await?).await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;

    ctx.publish("kitchen", &stable(&versions)).await?;
    let plan = waiting_plan(&ctx, NEW, 2).await?;
    check_waiting_upgrade(&ctx).await?;
    ctx.until_idle().await?;
    approve(&ctx, &plan).await?;
    finish(&ctx, &recorded).await
}

/// Between the look at a plan and its approval a user writes another CSV into it: the plan says
/// that it has no step for that one, and nothing is made until it is as it was.
async fn of_a_changed_plan(ctx: Arc<TestContext>) -> Result<()> {
    publish(&ctx, &versions(&ctx)[..1]).await?;
    subscribe(&ctx, None).await?;
    let plan = waiting_plan(&ctx, OLD, 1).await?.name_any();
    let names = |names: &[&str]| json!({"spec": {"clusterServiceVersionNames": names}});
    ctx.edit::<InstallPlan>(&plan, names(&[OLD, "stranger.v1.0.0"])).await?;
    ctx.edit::<InstallPlan>(&plan, json!({"spec": {"approved": true}})).await?;
    let refused = |plan: &InstallPlan| {
        let conditions = plan.status.iter().flat_map(|status| &status.conditions);
        let mut failed =
            conditions.filter(|one| one.reason.as_deref() == Some("InstallCheckFailed"));
        failed.any(|one| {
            let text = one.message.as_deref().unwrap_or_default();
            text.contains("names stranger.v1.0.0, for which the plan has no step")
        })
    };
    wait::until(&ctx.api(), &plan, "name the CSV without a step", refused).await?;
    ctx.until_idle().await?;
    check_nothing(&ctx).await?;
    ctx.edit::<InstallPlan>(&plan, names(&[OLD])).await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await.map(drop)
}

/// `startingCSV` is approved first, and what came after it is a plan of its own.
async fn from_the_starting_csv(ctx: Arc<TestContext>) -> Result<()> {
    let recorded = Recorded::begin(&ctx).await?;
    publish(&ctx, &versions(&ctx)).await?;
    subscribe(&ctx, Some(OLD)).await?;
    let first = waiting_plan(&ctx, OLD, 1).await?;
    check_nothing(&ctx).await?;
    check_conditions(&ctx).await?;
    approve(&ctx, &first).await?;
    ctx.succeeded(OLD).await?;

    let second = waiting_plan(&ctx, NEW, 2).await?;
    check_waiting_upgrade(&ctx).await?;
    check_conditions(&ctx).await?;
    approve(&ctx, &second).await?;
    finish(&ctx, &recorded).await
}

/// What a Subscription says in v0 while its plan waits, in that order; readiness is ours.
async fn check_conditions(ctx: &TestContext) -> Result<()> {
    let expected = [
        ("CatalogSourcesUnhealthy", "False", "AllCatalogSourcesHealthy"),
        ("InstallPlanPending", "True", "RequiresApproval"),
    ];
    wait::until(&ctx.api(), "kettle", "say that its plan waits", |subscription: &Subscription| {
        let of_v0 = conditions(subscription)
            .iter()
            .filter(|condition| !readiness::ALL.contains(&condition.type_.as_str()));
        let reported = of_v0.map(|condition| {
            let reason = condition.reason.as_deref().unwrap_or_default();
            (condition.type_.as_str(), condition.status.as_str(), reason)
        });
        reported.eq(expected)
    })
    .await
    .map(drop)
}

/// Two versions; the second replaces the first.
fn versions(ctx: &TestContext) -> [Bundle; 2] {
    let kind = kettles(ctx);
    [kettle("1.0.0", &kind), kettle("1.1.0", &kind).replaces(OLD)]
}

async fn publish(ctx: &TestContext, versions: &[Bundle]) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(versions)).await.map(drop)
}

async fn subscribe(ctx: &TestContext, starting_csv: Option<&str>) -> Result<()> {
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.spec.starting_csv = starting_csv.map(str::to_owned);
    ctx.create(&subscription).await.map(drop)
}

/// Waits until the Subscription waits for the approval of a plan for this version.
async fn waiting_plan(ctx: &TestContext, csv: &str, generation: i64) -> Result<InstallPlan> {
    let what = format!("wait for the approval of {csv}");
    let subscription = wait::until(&ctx.api(), "kettle", &what, |subscription: &Subscription| {
        let waits = conditions(subscription).iter().any(|condition| {
            condition.type_ == "InstallPlanPending"
                && condition.reason.as_deref() == Some("RequiresApproval")
        });
        waits
            && subscription.status.as_ref().is_some_and(|status| {
                status.state == SubscriptionState::UpgradePending
                    && status.current_csv.as_deref() == Some(csv)
                    && status.install_plan_generation == Some(generation)
            })
    })
    .await?;
    let plan = ctx.plan_of(&subscription).await?;
    let spec = &plan.spec;
    ensure!(spec.approval == Approval::Manual && !spec.approved, "{spec:?}");
    ensure!(spec.generation == Some(generation), "{spec:?}");
    ensure!(spec.cluster_service_version_names == [csv], "{spec:?}");
    let status = plan.status.clone().unwrap_or_default();
    ensure!(status.phase == InstallPlanPhase::RequiresApproval, "the plan is {}", status.phase);
    let untouched = status.plan.iter().all(|step| step.status == StepStatus::Unknown);
    ensure!(untouched && !status.plan.is_empty(), "a step was executed");
    Ok(plan)
}

async fn approve(ctx: &TestContext, plan: &InstallPlan) -> Result<()> {
    let approve = Patch::Merge(json!({"spec": {"approved": true}}));
    let plans: Api<InstallPlan> = ctx.api();
    let approved = plans.patch(&plan.name_any(), &PatchParams::default(), &approve).await;
    approved.map(drop).context("cannot approve")
}

/// No object that a step would make is there.
async fn check_nothing(ctx: &TestContext) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    ensure!(csvs.get_opt(OLD).await?.is_none(), "there is a CSV");
    let accounts: Api<ServiceAccount> = ctx.api();
    ensure!(accounts.get_opt("kettle").await?.is_none(), "there is a ServiceAccount");
    let roles = ctx.api::<Role>().list(&ListParams::default()).await?.items;
    ensure!(roles.is_empty(), "there are Roles");
    let ours = format!("{}={}", labels::OWNER_NAMESPACE, ctx.namespace);
    let ours = ListParams::default().labels(&ours);
    let cluster_roles = Api::<ClusterRole>::all(ctx.client.clone()).list(&ours).await?.items;
    let by_csv = |role: &&ClusterRole| role.labels().contains_key(labels::PERMISSIONS_HASH);
    ensure!(cluster_roles.iter().find(by_csv).is_none(), "there are ClusterRoles");
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    ensure!(crds.get_opt(&kettles(ctx).name()).await?.is_none(), "there is a kind");
    Ok(())
}

/// The old version is installed and at work while the plan for the new one waits.
async fn check_waiting_upgrade(ctx: &TestContext) -> Result<()> {
    ctx.succeeded(OLD).await?;
    ctx.installed("kettle", OLD).await?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    ensure!(csvs.get_opt(NEW).await?.is_none(), "the upgrade has started");
    Ok(())
}

async fn finish(ctx: &TestContext, recorded: &Recorded) -> Result<()> {
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    recorded.check_replacements(&[OLD, NEW]).await?;
    recorded.check_plans(ctx, &[OLD, NEW]).await?;
    let way = [
        "- - - -",
        "UpgradePending kettle.v1.0.0 - 1",
        "AtLatestKnown kettle.v1.0.0 kettle.v1.0.0 1",
        "UpgradePending kettle.v1.1.0 kettle.v1.0.0 2",
        "AtLatestKnown kettle.v1.1.0 kettle.v1.1.0 2",
    ];
    recorded.check_subscription("kettle", &way).await
}
