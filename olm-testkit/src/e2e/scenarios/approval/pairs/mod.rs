//! Annotations that meet at one Subscription, pair by pair, as docs/upgrade-policy.md has them.
//!
//! All pairs are in one namespace, beside a Manual and an Automatic Subscription without such a pair and one whose
//! catalog does not answer, so that none may be held, or approved, by another one. Manifests are applied as a tool
//! does that keeps them in Git.

mod dead;
mod rows;
mod shared;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use olm_types::annotations::{FIRST_INSTALL, PIN};
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, Subscription, UpgradeStrategy};
use serde_json::json;

use super::apart::manual;
use super::creations::Creations;
use crate::audit::AuditLog;
use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::context::{TestContext, conditions};
use crate::e2e::{Scenario, scenario};
use crate::operators::Operator;
use crate::wait::{self, TIMEOUT};

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "approval::pairs",
            "each pair of annotations that meets at a Subscription does what the documentation says, now and later",
            pairs,
        ),
        scenario(
            "approval::pairs_fail_forward",
            "a failed version may be left, and no annotation lets in more for that",
            pairs_fail_forward,
        ),
        scenario(
            "approval::pairs_dead_catalog",
            "annotations let nothing in while the catalog does not answer, and each does what it says once it answers",
            dead::pairs_dead_catalog,
        ),
        scenario(
            "approval::pairs_in_common",
            "what two Subscriptions need comes, and is upgraded, when each of the two lets it, by whatever it declares",
            shared::pairs_in_common,
        ),
    ]
}

/// A Subscription in Git, at first and later.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Name of the Subscription and of its package.
    name: &'static str,
    is_automatic: bool,
    first: Stage,
    then: Stage,
}

/// What a manifest says, and what comes of it in the end.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Version of `spec.startingCSV`; empty for none.
    starting: &'static str,
    says: &'static [(&'static str, &'static str)],
    /// Versions of the plans that were approved so far, in their order: the last one is installed.
    way: &'static [&'static str],
    /// Version of the plan that waits for approval.
    waits: Option<&'static str>,
    /// Reason of condition `UpgradeHeld`.
    held: Option<&'static str>,
    is_refused: bool,
}

/// Who applies the manifests.
const TOOL: &str = "argocd-controller";

/// A closed port.
const CLOSED: &str = "127.0.0.1:1";

/// So long without a write is the end.
const QUIET: Duration = Duration::from_secs(2);

/// Each pair, in a namespace in which all that is installed works.
async fn pairs(ctx: Arc<TestContext>) -> Result<()> {
    play(&ctx, rows::PAIRS, "").await
}

/// Each annotation, where the first version fails and may be left for the next one.
async fn pairs_fail_forward(ctx: Arc<TestContext>) -> Result<()> {
    play(&ctx, rows::FAIL_FORWARD, "1.0.0").await
}

async fn play(ctx: &TestContext, rows: &[Row], broken: &str) -> Result<()> {
    let mut created = Creations::begin(ctx)?;
    let mut group = builders::operator_group(&ctx.namespace, "group", &[&ctx.namespace]);
    group.spec.upgrade_strategy = Some(UpgradeStrategy::TechPreviewUnsafeFailForward);
    ctx.create(&group).await?;
    ctx.create(&builders::catalog_source(&ctx.namespace, "dead", CLOSED)).await?;
    let packages: Vec<Package> = rows.iter().map(|row| package(row.name, broken)).collect();
    ctx.catalog("kitchen", &packages).await?;
    subscribe_to_the_dead(ctx).await?;
    stage(ctx, rows, |row| row.first, broken, &mut created).await?;
    stage(ctx, rows, |row| row.then, broken, &mut created).await?;
    let lost: Subscription = ctx.api().get("lost").await?;
    let status = lost.status.unwrap_or_default();
    ensure!(status.install_plan_ref.is_none() && status.installed_csv.is_none(), "{status:?}");
    Ok(())
}

/// A Subscription that would need no approval, were its catalog there.
async fn subscribe_to_the_dead(ctx: &TestContext) -> Result<()> {
    let mut lost = manual(ctx, "lost");
    lost.spec.source = "dead".to_owned();
    lost.spec.starting_csv = Some("lost.v1.0.0".to_owned());
    for (key, value) in [(PIN, "true"), (FIRST_INSTALL, "Automatic")] {
        lost.annotations_mut().insert(key.to_owned(), value.to_owned());
    }
    ctx.create(&lost).await?;
    ctx.condition("lost", "ResolutionFailed", "True", "ErrorPreventedResolution").await?;
    ctx.conclude_refused_plans().await
}

/// Applies the manifests of a stage, and waits until all is as expected. It is still so when nothing is written any
/// more, and nothing was created that was not approved before.
async fn stage(
    ctx: &TestContext,
    rows: &[Row],
    of: fn(&Row) -> Stage,
    broken: &str,
    created: &mut Creations,
) -> Result<()> {
    for row in rows {
        apply(ctx, row, &of(row)).await?;
    }
    for row in rows {
        let came = comes(ctx, row, &of(row), broken).await;
        came.with_context(|| format!("Subscription {}", row.name))?;
    }
    until_idle(ctx).await?;
    let mut plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    plans.sort_by_key(|plan| plan.spec.generation);
    let csvs: Vec<ClusterServiceVersion> = ctx.api().list(&ListParams::default()).await?.items;
    for row in rows {
        let one: Subscription = ctx.api().get(row.name).await?;
        check(row, &of(row), &one, &plans, &csvs)
            .with_context(|| format!("Subscription {} in the end", row.name))?;
    }
    created.follow(&plans)?;
    created.check_followed()
}

/// Waits for the last write, except for those about the catalog that does not answer: it is tried again and again.
async fn until_idle(ctx: &TestContext) -> Result<()> {
    let Some(log) = ctx.facts().audit_log.clone() else { return Ok(()) };
    let mut log =
        AuditLog::from_now(log)?.of_namespace(&ctx.namespace).apart_from("catalogsources");
    log.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await.map(drop)
}

/// As a tool applies it: what the former manifest said and this one does not is gone.
async fn apply(ctx: &TestContext, row: &Row, stage: &Stage) -> Result<()> {
    let annotations: BTreeMap<&str, &str> = stage.says.iter().copied().collect();
    let approval = if row.is_automatic { "Automatic" } else { "Manual" };
    let mut spec = json!({"name": row.name, "channel": "stable", "source": "kitchen",
        "sourceNamespace": ctx.namespace, "installPlanApproval": approval});
    if !stage.starting.is_empty() {
        spec["startingCSV"] = json!(row.csv(stage.starting));
    }
    let manifest = json!({
        "apiVersion": Subscription::API_VERSION,
        "kind": Subscription::KIND,
        "metadata": {"name": row.name, "namespace": ctx.namespace, "annotations": annotations},
        "spec": spec,
    });
    let params = PatchParams::apply(TOOL);
    let applied =
        ctx.api::<Subscription>().patch(row.name, &params, &Patch::Apply(&manifest)).await;
    applied.map(drop).with_context(|| format!("cannot apply Subscription {}", row.name))
}

/// Waits until all that the stage brings is there, what it replaces is gone, and the Subscription says so.
async fn comes(ctx: &TestContext, row: &Row, stage: &Stage, broken: &str) -> Result<()> {
    let what = format!("be as {stage:?}");
    wait::until(&ctx.api(), row.name, &what, |one: &Subscription| agrees(row, stage, one)).await?;
    let Some((last, former)) = stage.way.split_last() else { return Ok(()) };
    let csv = row.csv(last);
    if *last == broken {
        ctx.csv_phase(&csv, CsvPhase::Failed, "InvalidInstallStrategy").await?;
    } else {
        ctx.succeeded(&csv).await?;
    }
    for version in former {
        wait::until_gone::<ClusterServiceVersion>(&ctx.api(), &row.csv(version)).await?;
    }
    Ok(())
}

/// Whether the status says what it has to.
fn agrees(row: &Row, stage: &Stage, one: &Subscription) -> bool {
    let status = one.status.clone().unwrap_or_default();
    let reason = |kind: &str| {
        let mut all = conditions(one).iter();
        let found = all.find(|condition| condition.type_ == kind && condition.status == "True");
        found.and_then(|condition| condition.reason.as_deref())
    };
    let waits = stage.waits.map(|version| row.csv(version));
    status.installed_csv == stage.way.last().map(|version| row.csv(version))
        && reason("UpgradeHeld") == stage.held
        && reason("ResolutionFailed").is_some() == stage.is_refused
        && reason("InstallPlanPending") == stage.waits.map(|_| "RequiresApproval")
        && (waits.is_none() || status.current_csv == waits)
}

/// Fails when something else is installed, approved or waiting for a Subscription than the stage says.
fn check(
    row: &Row,
    stage: &Stage,
    one: &Subscription,
    plans: &[InstallPlan],
    csvs: &[ClusterServiceVersion],
) -> Result<()> {
    ensure!(agrees(row, stage, one), "it is not as {stage:?}: {:?}", one.status);
    let start = row.csv("");
    let mut names: Vec<String> = csvs.iter().map(ResourceExt::name_any).collect();
    names.retain(|name| name.starts_with(&start));
    let last: Vec<String> = stage.way.last().map(|version| row.csv(version)).into_iter().collect();
    ensure!(names == last, "there is {names:?}, not {last:?}");

    let is_own =
        |plan: &&InstallPlan| plan.owner_references().iter().any(|one| one.name == row.name);
    let own: Vec<&InstallPlan> = plans.iter().filter(is_own).collect();
    let brings = |plan: &&InstallPlan| plan.spec.cluster_service_version_names.clone();
    let approved = own.iter().copied().filter(|plan| plan.spec.approved);
    let approved: Vec<String> = approved.flat_map(|plan| brings(&plan)).collect();
    let way: Vec<String> = stage.way.iter().map(|version| row.csv(version)).collect();
    ensure!(approved == way, "approved is {approved:?}, not {way:?}");
    let Some(version) = stage.waits else { return Ok(()) };
    let followed = one.status.as_ref().and_then(|status| status.install_plan_ref.as_ref());
    let followed = followed.and_then(|reference| reference.name.clone()).unwrap_or_default();
    let plan = own.iter().find(|plan| plan.name_any() == followed).context("there is no plan")?;
    let expected = [row.csv(version)];
    ensure!(plan.waits_for_approval() && brings(plan) == expected, "{:?}", plan.spec);
    Ok(())
}

impl Row {
    fn csv(&self, version: &str) -> String {
        format!("{}.v{version}", self.name)
    }
}

impl Stage {
    const fn waits_for(self, version: &'static str) -> Self {
        Self { waits: Some(version), ..self }
    }

    const fn held(self, reason: &'static str) -> Self {
        Self { held: Some(reason), ..self }
    }

    const fn refused(self) -> Self {
        Self { is_refused: true, ..self }
    }
}

/// Three versions, each of which replaces the one before; the `broken` one cannot be installed.
fn package(name: &str, broken: &str) -> Package {
    let bundle = |version: &str| {
        let pods = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
        let made = csv(&format!("{name}.v{version}"), version)
            .deployment(&format!("{name}-manager"), name)
            .permission(name, pods);
        let made = match version == broken {
            true => made.with(|csv| csv.spec.install.strategy = "helm".to_owned()),
            false => made,
        };
        Bundle::new(version, &made)
    };
    let next = |version: &str, before: &str| bundle(version).replaces(&format!("{name}.v{before}"));
    let versions = vec![bundle("1.0.0"), next("1.1.0", "1.0.0"), next("1.2.0", "1.1.0")];
    Package::new(name).channel("stable", versions)
}
