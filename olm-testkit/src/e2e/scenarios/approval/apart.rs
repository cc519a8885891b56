//! Subscriptions of one namespace with and without operators in common.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::annotations::{APPROVE, PIN};
use olm_types::api::{
    Approval, ClusterServiceVersion, InstallPlan, InstallPlanPhase, Subscription,
};
use serde_json::json;

use super::creations::{Approved, Creations};
use crate::builders::{self, Bundle, Crd, Package};
use crate::e2e::context::{TestContext, conditions};
use crate::e2e::scenarios::install::operator;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "approval::each_its_own",
            "twelve Subscriptions with manual approval wait, each for a plan of its own, and hold no other",
            each_its_own,
        ),
        scenario(
            "approval::in_common",
            "what two Subscriptions need waits for the one that wants to be asked, now and when it is upgraded",
            in_common,
        ),
        scenario(
            "approval::of_each_that_is_asked",
            "what two Subscriptions need is not approved by pin and annotation of one while the other one is asked",
            of_each_that_is_asked,
        ),
    ]
}

/// Subscriptions that wait; more than plans of a namespace are kept in v0.
const WAITING: usize = 12;

/// An Automatic Subscription is installed beside them, no plan goes, nothing is written however often all is
/// looked at, and the approval of one approves nothing else.
async fn each_its_own(ctx: Arc<TestContext>) -> Result<()> {
    let names: Vec<String> = (1..=WAITING).map(|number| format!("cup{number}")).collect();
    let packages = names.iter().map(String::as_str).chain(["jug"]).map(|name| single(&ctx, name));
    let mut created = Creations::begin(&ctx)?;
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &packages.collect::<Vec<_>>()).await?;
    for name in &names {
        ctx.create(&manual(&ctx, name)).await?;
    }
    ctx.subscribe("jug", "kitchen").await?;
    ctx.succeeded("jug.v1.0.0").await?;
    let mut plans = BTreeSet::new();
    for name in &names {
        let plan = waiting(&ctx, name).await?;
        ensure!(plan.spec.cluster_service_version_names == [format!("{name}.v1.0.0")], "{plan:?}");
        let owners = plan.owner_references().iter().map(|owner| &owner.name);
        ensure!(owners.eq([name]), "{:?}", plan.owner_references());
        plans.insert((plan.spec.generation, plan.uid()));
    }
    let numbers: BTreeSet<_> = plans.iter().map(|(number, _)| number).collect();
    ensure!(numbers.len() == WAITING, "plans share a number: {numbers:?}");
    ctx.until_idle().await?;
    ctx.until_idle().await?;

    created.expect("jug.v1.0.0", Some(&kind(&ctx, "jug")), Approved::Always);
    created.check()?;
    let first = waiting(&ctx, "cup1").await?;
    let now = Timestamp::now();
    super::approve(&ctx, &first).await?;
    ctx.at_latest("cup1", "cup1.v1.0.0").await?;
    ctx.until_idle().await?;
    let left: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    let waits = |plan: &&InstallPlan| plan.waits_for_approval();
    let waiting: BTreeSet<_> =
        left.iter().filter(waits).map(|plan| (plan.spec.generation, plan.uid())).collect();
    plans.remove(&(first.spec.generation, first.uid()));
    ensure!(waiting == plans && left.len() == WAITING + 1, "{waiting:?}, {} in all", left.len());
    let csvs: Vec<ClusterServiceVersion> = ctx.api().list(&ListParams::default()).await?.items;
    ensure!(csvs.len() == 2, "{:?}", csvs.iter().map(ResourceExt::name_any).collect::<Vec<_>>());
    created.expect("cup1.v1.0.0", Some(&kind(&ctx, "cup1")), Approved::ByHand(now));
    created.check()
}

/// Two operators need a third one. The plan says who asks for what and whose approval it waits for; an upgrade of
/// the third one, whose Subscription was generated, waits as well, until the one that is asked approves it.
async fn in_common(ctx: Arc<TestContext>) -> Result<()> {
    let wires = ctx.kind("Wire");
    let old = Bundle::new("1.0.0", &operator("wire", "1.0.0", &wires)).provides(&wires);
    let users = ["lamp", "shade"].map(|name| user(&ctx, name, &wires));
    let wire = |versions: Vec<Bundle>| Package::new("wire").channel("stable", versions);
    let all = |versions: Vec<Bundle>| [users[0].clone(), users[1].clone(), wire(versions)];
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &all(vec![old.clone()])).await?;
    ctx.create(&manual(&ctx, "lamp")).await?;
    ctx.subscribe("shade", "kitchen").await?;
    let plan = waiting_for_both(&ctx).await?;
    let message = plan.status.as_ref().and_then(|status| status.message.clone());
    let expected = "waits for approval of what Subscription lamp asks for: it brings lamp.v1.0.0 for lamp; \
                    shade.v1.0.0 for shade; wire.v1.0.0 for lamp, shade";
    ensure!(message.as_deref() == Some(expected), "{message:?}");
    ctx.until_idle().await?;
    super::approve(&ctx, &plan).await?;
    for csv in ["lamp.v1.0.0", "shade.v1.0.0", "wire.v1.0.0"] {
        ctx.succeeded(csv).await?;
    }

    let wire_subscription = format!("wire-stable-kitchen-{}", ctx.namespace);
    ctx.at_latest(&wire_subscription, "wire.v1.0.0").await?;
    let new = Bundle::new("1.1.0", &operator("wire", "1.1.0", &wires)).provides(&wires);
    ctx.publish("kitchen", &all(vec![old, new.replaces("wire.v1.0.0")])).await?;
    let plan = waiting(&ctx, &wire_subscription).await?;
    ensure!(plan.spec.cluster_service_version_names == ["wire.v1.1.0"], "{:?}", plan.spec);
    let message = plan.status.as_ref().and_then(|status| status.message.clone());
    let asked = "waits for approval of what Subscription lamp asks for: it brings wire.v1.1.0 for ";
    ensure!(message.as_deref().is_some_and(|text| text.starts_with(asked)), "{message:?}");
    ctx.until_idle().await?;
    let approve = json!({"metadata": {"annotations": {APPROVE: "wire.v1.1.0"}}});
    ctx.edit::<Subscription>("lamp", approve).await?;
    ctx.at_latest(&wire_subscription, "wire.v1.1.0").await.map(drop)
}

/// One is pinned and approves all that the plan brings; its Manual sibling needs a part of it, and is waited for.
async fn of_each_that_is_asked(ctx: Arc<TestContext>) -> Result<()> {
    let wires = ctx.kind("Wire");
    let wire = Bundle::new("1.0.0", &operator("wire", "1.0.0", &wires)).provides(&wires);
    let [lamp, shade] = ["lamp", "shade"].map(|name| user(&ctx, name, &wires));
    ctx.operator_group().await?;
    let mut pinned = manual(&ctx, "lamp");
    pinned.spec.starting_csv = Some("lamp.v1.0.0".to_owned());
    let all = "lamp.v1.0.0, shade.v1.0.0, wire.v1.0.0";
    for (key, value) in [(PIN, "true"), (APPROVE, all)] {
        pinned.annotations_mut().insert(key.to_owned(), value.to_owned());
    }
    ctx.create(&pinned).await?;
    ctx.create(&manual(&ctx, "shade")).await?;
    // Only now, so that both are resolved at once.
    ctx.catalog("kitchen", &[lamp, shade, Package::new("wire").channel("stable", vec![wire])])
        .await?;

    let plan = waiting_for_both(&ctx).await?.name_any();
    let why = "Subscription shade needs shade.v1.0.0, wire.v1.0.0 as well";
    super::declared::says(&ctx, &plan, why).await?;
    ctx.until_idle().await?;
    let approve = |csvs: &str| json!({"metadata": {"annotations": {APPROVE: csvs}}});
    ctx.edit::<Subscription>("shade", approve("shade.v1.0.0")).await?;
    super::declared::says(&ctx, &plan, "Subscription shade needs wire.v1.0.0 as well").await?;
    ctx.until_idle().await?;
    let csvs: Vec<ClusterServiceVersion> = ctx.api().list(&ListParams::default()).await?.items;
    ensure!(csvs.is_empty(), "{:?}", csvs.iter().map(ResourceExt::name_any).collect::<Vec<_>>());
    ctx.edit::<Subscription>("shade", approve("shade.v1.0.0, wire.v1.0.0")).await?;
    for csv in ["lamp.v1.0.0", "shade.v1.0.0", "wire.v1.0.0"] {
        ctx.succeeded(csv).await?;
    }
    Ok(())
}

/// The kind of an operator.
pub(super) fn kind(ctx: &TestContext, name: &str) -> Crd {
    ctx.kind(&format!("{}{}", name[..1].to_uppercase(), &name[1..]))
}

fn single(ctx: &TestContext, name: &str) -> Package {
    let kind = kind(ctx, name);
    let bundle = Bundle::new("1.0.0", &operator(name, "1.0.0", &kind)).provides(&kind);
    Package::new(name).channel("stable", vec![bundle])
}

/// An operator that needs the kind.
pub(super) fn user(ctx: &TestContext, name: &str, needed: &Crd) -> Package {
    let kind = kind(ctx, name);
    let csv = operator(name, "1.0.0", &kind).requires(needed);
    let bundle = Bundle::new("1.0.0", &csv).provides(&kind).requires(needed);
    Package::new(name).channel("stable", vec![bundle])
}

pub(super) fn manual(ctx: &TestContext, name: &str) -> Subscription {
    let mut subscription = builders::subscription(&ctx.namespace, name, "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription
}

/// The plan that a Subscription waits for, as a client of v0 finds it.
pub(super) async fn waiting(ctx: &TestContext, name: &str) -> Result<InstallPlan> {
    let requires_approval = InstallPlanPhase::RequiresApproval.as_str();
    let waits = |subscription: &Subscription| {
        conditions(subscription).iter().any(|condition| {
            condition.type_ == "InstallPlanPending"
                && condition.reason.as_deref() == Some(requires_approval)
        })
    };
    let subscription = wait::until(&ctx.api(), name, "wait for approval", waits).await?;
    ctx.plan_of(&subscription).await.with_context(|| format!("{name} has no plan"))
}

/// The plan that both follow; the first of them may have had one of its own before.
async fn waiting_for_both(ctx: &TestContext) -> Result<InstallPlan> {
    let plan = waiting(ctx, "shade").await?;
    let same = |subscription: &Subscription| {
        let status = subscription.status.as_ref();
        status.is_some_and(|status| status.install_plan_generation == plan.spec.generation)
    };
    wait::until(&ctx.api(), "lamp", "follow the plan of both", same).await?;
    Ok(plan)
}
