//! A namespace is resolved when something changes that a resolution depends on, and not because
//! something else does.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use olm_testkit::builders;
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use olm_testkit::wait::TIMEOUT;
use olm_types::api::{OperatorGroup, Subscription};
use serde_json::{Value, json};

use super::sent::SentEvents;
use crate::metrics::sum;

/// Subscriptions that come at once.
const BURST: usize = 20;

/// Resolutions that they may cost: one that has begun when others come and one for all of them, twice as many where a
/// busy machine reads their events in pieces. What is reported on them asks nothing new.
const RESOLUTIONS: f64 = 4.0;

/// Rest after which what was reported last has been seen.
const QUIET: Duration = Duration::from_secs(2);

/// Changes of no importance, an important one, and many at once.
pub async fn only_when_needed(started: &Local, refused: &TestContext) -> Result<()> {
    let admin = started.admin(Operator::Catalog)?;
    let resolved = resolutions(&admin.metrics().await?);
    for number in 0..3 {
        let looked = looks(&admin.metrics().await?);
        relabel(refused, number).await?;
        admin.until_metrics("count a look", |metrics| looks(metrics) > looked).await?;
    }
    let looked = looks(&admin.metrics().await?);
    annotate_group(refused).await?;
    let metrics = admin.until_metrics("count a look", |metrics| looks(metrics) > looked).await?;
    let further = resolutions(&metrics) - resolved;
    ensure!(further == 0.0, "{further} resolutions for nothing");
    let text = json!({"spec": {"channel": "other"}});
    change(refused, &text).await?;
    admin.until_metrics("count one", |metrics| resolutions(metrics) > resolved).await?;
    a_burst(started, refused).await
}

/// Many Subscriptions at once are resolved together: catalog-operator stands still until the API server has sent it
/// the last one, however long that takes.
async fn a_burst(started: &Local, ctx: &TestContext) -> Result<()> {
    let admin = started.admin(Operator::Catalog)?;
    started.audit().until_idle(&[Operator::Catalog.name()], QUIET, TIMEOUT).await?;
    let process = started.operator(Operator::Catalog, |one| one.running.record().clone())?;
    let resolved = resolutions(&admin.metrics().await?);
    let names: Vec<String> = (0..BURST).map(|number| format!("absent-{number}")).collect();
    let subscriptions = names.iter().map(|name| {
        let subscription = builders::subscription(&ctx.namespace, name, "stable", "stable-yard");
        async move { ctx.create(&subscription).await.map(drop) }
    });
    let sent = SentEvents::from_now(&ctx.client).await?;
    process.freeze();
    let created = try_join_all(subscriptions).await;
    let sent = sent.until_each_watcher_has(BURST).await;
    process.thaw();
    created.and(sent)?;
    for name in &names {
        ctx.condition(name, "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    }
    let further = resolutions(&admin.metrics().await?) - resolved;
    ensure!(further <= RESOLUTIONS, "{further} resolutions for {BURST} Subscriptions");
    Ok(())
}

async fn relabel(ctx: &TestContext, number: u32) -> Result<()> {
    change(ctx, &json!({"metadata": {"labels": {"number": number.to_string()}}})).await
}

async fn change(ctx: &TestContext, patch: &Value) -> Result<()> {
    let subscriptions: Api<Subscription> = ctx.api();
    let changed = subscriptions.patch("rider", &PatchParams::default(), &Patch::Merge(patch)).await;
    changed.map(drop).context("cannot change a Subscription")
}

async fn annotate_group(ctx: &TestContext) -> Result<()> {
    let groups: Api<OperatorGroup> = ctx.api();
    let group = groups.list(&ListParams::default()).await?.items.pop().context("no group")?;
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"team": "riders"}}}));
    let annotated = groups.patch(&group.name_any(), &PatchParams::default(), &patch).await;
    annotated.map(drop).context("cannot annotate an OperatorGroup")
}

/// How often namespaces were looked at.
fn looks(metrics: &str) -> f64 {
    sum(metrics, "olm_kit_reconciles_total{controller=\"resolution\"")
}

/// How often they were resolved.
fn resolutions(metrics: &str) -> f64 {
    sum(metrics, "olm_resolution_duration_seconds_count{")
}
