//! The main job: from a Subscription to a running operator.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use olm_types::api::{
    Approval, InstallPlan, InstallPlanPhase, StepStatus, Subscription, SubscriptionState,
};
use olm_types::{annotations, labels};
use serde_json::json;

use crate::builders::{self, Bundle, Crd, CsvBuilder, Package, csv};
use crate::e2e::context::{TestContext, conditions, reported, same};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "install::an_operator",
            "a Subscription becomes a plan, objects, a CSV and a Deployment",
            an_operator,
        ),
        scenario(
            "install::a_dependency",
            "what an operator needs comes with it, under a Subscription of its own",
            a_dependency,
        ),
        scenario(
            "install::manual_approval",
            "nothing happens before a person approves, and everything after",
            manual_approval,
        ),
    ]
}

/// An operator with a kind, a Deployment and rights of both sorts.
pub fn operator(name: &str, version: &str, crd: &Crd) -> CsvBuilder {
    let pods = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    let nodes = json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]);
    csv(&format!("{name}.v{version}"), version)
        .owns(crd)
        .deployment(&format!("{name}-manager"), name)
        .permission(name, pods)
        .cluster_permission(name, nodes)
}

/// Subscription, plan, steps, CSV and Deployment end as the specification says.
async fn an_operator(ctx: Arc<TestContext>) -> Result<()> {
    let crd = ctx.kind("Kettle");
    let bundle = Bundle::new("1.0.0", &operator("kettle", "1.0.0", &crd)).provides(&crd);
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &[Package::single("kettle", bundle)]).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded("kettle.v1.0.0").await?;
    let subscription = converged(&ctx, "kettle", "kettle.v1.0.0").await?;
    check_plan(&ctx, &subscription).await?;
    check_cluster(&ctx, &crd).await
}

/// A Subscription at rest: the version is the latest, and nothing is wrong or under way.
async fn converged(ctx: &TestContext, name: &str, csv: &str) -> Result<Subscription> {
    ctx.installed(name, csv).await?;
    let healthy = |subscription: &Subscription| {
        let state = subscription.status.as_ref().map(|status| &status.state);
        let healthy = reported(subscription).next().is_none();
        state == Some(&SubscriptionState::AtLatestKnown) && healthy
    };
    let subscription = wait::until(&ctx.api(), name, "be at the latest version", healthy).await?;
    let health = conditions(&subscription).iter().find(|c| c.type_ == "CatalogSourcesUnhealthy");
    let message = health.and_then(|condition| condition.message.as_deref());
    same(message, "all available catalogsources are healthy")?;
    Ok(subscription)
}

async fn check_plan(ctx: &TestContext, subscription: &Subscription) -> Result<()> {
    let plan = ctx.plan_of(subscription).await?;
    let owned = plan.owner_references().iter().any(|owner| owner.name == subscription.name_any());
    ensure!(owned, "the plan does not belong to its Subscription");
    ensure!(plan.spec.approved && plan.spec.approval == Approval::Automatic, "{:?}", plan.spec);
    ensure!(plan.spec.cluster_service_version_names == ["kettle.v1.0.0"], "{:?}", plan.spec);
    let status = plan.status.context("the plan has no status")?;
    ensure!(status.phase == InstallPlanPhase::Complete, "the plan is {}", status.phase);
    for step in &status.plan {
        let done = matches!(step.status, StepStatus::Created | StepStatus::Present);
        ensure!(done, "step {} {} is {}", step.resource.kind, step.resource.name, step.status);
    }
    let kinds: Vec<&str> = status.plan.iter().map(|step| step.resource.kind.as_str()).collect();
    let expected = [
        "ClusterServiceVersion",
        "CustomResourceDefinition",
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "ClusterRole",
        "ClusterRoleBinding",
    ];
    ensure!(kinds == expected, "steps are {kinds:?}");
    Ok(())
}

async fn check_cluster(ctx: &TestContext, crd: &Crd) -> Result<()> {
    let deployments: Api<Deployment> = ctx.api();
    let deployment = deployments.get("kettle-manager").await.context("no Deployment")?;
    for label in [labels::DEPLOYMENT_SPEC_HASH, labels::OWNER, labels::OWNER_NAMESPACE] {
        ensure!(deployment.labels().contains_key(label), "the Deployment lacks {label}");
    }
    let template = deployment.spec.and_then(|spec| spec.template.metadata).unwrap_or_default();
    let targets = template.annotations.unwrap_or_default();
    let targets = targets.get(annotations::TARGET_NAMESPACES);
    ensure!(targets == Some(&ctx.namespace), "the operator is configured to watch {targets:?}");
    ctx.api::<ServiceAccount>().get("kettle").await.context("no ServiceAccount")?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let made = crds.get(&crd.name()).await.context("no CustomResourceDefinition")?;
    let managed = made.labels().get(labels::MANAGED).map(String::as_str);
    ensure!(managed == Some("true"), "the CustomResourceDefinition is not labelled as managed");
    Ok(())
}

/// What an operator needs comes with it, under a Subscription made for it.
async fn a_dependency(ctx: Arc<TestContext>) -> Result<()> {
    let cups = ctx.kind("Cup");
    let teas = ctx.kind("Tea");
    let tea = operator("tea", "2.0.0", &teas).requires(&cups);
    let packages = [
        Package::single(
            "cup",
            Bundle::new("1.0.0", &operator("cup", "1.0.0", &cups)).provides(&cups),
        ),
        Package::single("tea", Bundle::new("2.0.0", &tea).provides(&teas).requires(&cups)),
    ];
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &packages).await?;
    ctx.subscribe("tea", "kitchen").await?;
    ctx.succeeded("cup.v1.0.0").await?;
    ctx.succeeded("tea.v2.0.0").await?;
    let generated = format!("cup-stable-kitchen-{}", ctx.namespace);
    let subscription = converged(&ctx, &generated, "cup.v1.0.0").await?;
    ensure!(
        subscription.spec.name == "cup"
            && subscription.spec.starting_csv.as_deref() == Some("cup.v1.0.0")
    );
    let by = subscription.annotations().get(annotations::GENERATED_BY).cloned().unwrap_or_default();
    let tea = converged(&ctx, "tea", "tea.v2.0.0").await?;
    ensure!(by == ctx.plan_of(&tea).await?.name_any(), "the Subscription is generated by {by:?}");
    Ok(())
}

/// Nothing happens before a person approves, and everything after.
async fn manual_approval(ctx: Arc<TestContext>) -> Result<()> {
    let crd = ctx.kind("Spoon");
    let bundle = Bundle::new("1.0.0", &operator("spoon", "1.0.0", &crd)).provides(&crd);
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &[Package::single("spoon", bundle)]).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "spoon", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    ctx.create(&subscription).await?;
    ctx.condition("spoon", "InstallPlanPending", "True", "RequiresApproval").await?;
    let plans: Api<InstallPlan> = ctx.api();
    let list = plans.list(&ListParams::default()).await.context("cannot list InstallPlans")?;
    let plan = list.items.first().context("there is no InstallPlan")?.name_any();
    ensure!(
        ctx.api::<olm_types::api::ClusterServiceVersion>().get_opt("spoon.v1.0.0").await?.is_none()
    );
    let approve = Patch::Merge(json!({"spec": {"approved": true}}));
    plans.patch(&plan, &PatchParams::default(), &approve).await.context("cannot approve")?;
    ctx.succeeded("spoon.v1.0.0").await?;
    converged(&ctx, "spoon", "spoon.v1.0.0").await.map(drop)
}
