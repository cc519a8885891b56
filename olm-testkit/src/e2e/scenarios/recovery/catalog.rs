//! The server of a catalog is away for a while.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use olm_types::api::CatalogSource;
use olm_types::conditions::catalog_source::CONTENT_CURRENT;
use olm_types::reasons::catalog_source::UNREACHABLE;
use tokio::time::Instant;

use super::steps::{operator, untouched};
use crate::builders::{self, Bundle, Package};
use crate::e2e::context::{TestContext, same};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::catalog::dies_and_returns",
            "a catalog's server is away: what runs stays, who subscribes reads why nothing comes",
            dies_and_returns,
        ),
        scenario(
            "recovery::catalog::last_good",
            "what was read of a catalog that is away stays in use, and its status says since when",
            last_good,
        ),
        scenario(
            "recovery::catalog::is_late",
            "a catalog whose server was never there, and then comes",
            is_late,
        ),
    ]
}

/// How late a server that came back may be noticed.
const NOTICED: Duration = Duration::from_secs(20);

/// What runs stays as it is, and who subscribes meanwhile reads why nothing comes, and gets it
/// when the server is back.
async fn dies_and_returns(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("shelf", &[package(&ctx, "early"), package(&ctx, "late")]).await?;
    ctx.subscribe("early", "shelf").await?;
    ctx.at_latest("early", "early.v1.0.0").await?;
    let csv = ctx.succeeded("early.v1.0.0").await?;
    let deployment: Deployment = ctx.api().get("early").await?;

    ctx.catalog_dies("shelf").await?;
    is_in_state(&ctx, "TRANSIENT_FAILURE").await?;
    ctx.subscribe("late", "shelf").await?;
    prevented(&ctx, "late", "bundle late.v1.0.0: rpc error: code = Unavailable desc = ").await?;

    ctx.catalog_returns("shelf").await?;
    let resumed = Instant::now();
    is_in_state(&ctx, "READY").await?;
    let away = resumed.elapsed();
    ensure!(away < NOTICED, "the server was noticed after {away:?}");
    ctx.succeeded("late.v1.0.0").await?;
    ctx.at_latest("late", "late.v1.0.0").await?;
    ctx.at_latest("early", "early.v1.0.0").await?;
    untouched(&csv, &ctx.succeeded("early.v1.0.0").await?)?;
    untouched(&deployment, &ctx.api().get("early").await?)?;
    ctx.until_idle().await
}

/// While one catalog is away, resolution goes on with what was read of it: who subscribes to another
/// catalog gets what is there. The status says when that was read.
async fn last_good(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("shelf", &[package(&ctx, "early")]).await?;
    ctx.catalog("table", &[package(&ctx, "other")]).await?;
    ctx.subscribe("early", "shelf").await?;
    ctx.at_latest("early", "early.v1.0.0").await?;
    ctx.catalog_dies("shelf").await?;
    is_in_state(&ctx, "TRANSIENT_FAILURE").await?;
    let condition = content_condition(&ctx, "shelf").await?;
    same(Some(&condition.reason), UNREACHABLE)?;
    let before = "the registry server does not answer; what was read at ";
    let after = " stays in use (1 channel entries)";
    let time = condition.message.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    let time = time.with_context(|| format!("{:?}", condition.message))?;
    time.parse::<Timestamp>().with_context(|| format!("{time} is no time"))?;
    ctx.subscribe("other", "table").await?;
    ctx.at_latest("other", "other.v1.0.0").await?;
    ctx.at_latest("early", "early.v1.0.0").await?;
    ctx.catalog_returns("shelf").await?;
    is_in_state(&ctx, "READY").await?;
    ctx.until_idle().await
}

/// What the status of a catalog says about content that is not current.
async fn content_condition(ctx: &TestContext, catalog: &str) -> Result<Condition> {
    let find = |catalog: &CatalogSource| {
        let conditions = catalog.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().find(|condition| condition.type_ == CONTENT_CURRENT).cloned()
    };
    let what = "say that its content is not current";
    let found = wait::until(&ctx.api(), catalog, what, |found| find(found).is_some()).await?;
    find(&found).context("no condition")
}

/// A catalog whose server was never there, and then comes.
async fn is_late(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let address = ctx.registry("shelf", ctx.content(&[package(&ctx, "patient")])?).await?;
    ctx.catalog_dies("shelf").await?;
    ctx.create(&builders::catalog_source(&ctx.namespace, "shelf", &address)).await?;
    is_in_state(&ctx, "TRANSIENT_FAILURE").await?;
    ctx.subscribe("patient", "shelf").await?;
    let text = "failed to list bundles: rpc error: code = Unavailable desc = ";
    prevented(&ctx, "patient", text).await?;
    ctx.catalog_returns("shelf").await?;
    ctx.succeeded("patient.v1.0.0").await?;
    ctx.at_latest("patient", "patient.v1.0.0").await?;
    ctx.until_idle().await
}

fn package(ctx: &TestContext, name: &str) -> Package {
    let mut initial = name.to_owned();
    initial.get_mut(..1).map(str::make_ascii_uppercase);
    let crd = ctx.kind(&initial);
    Package::single(name, Bundle::new("1.0.0", &operator(name, &crd)).provides(&crd))
}

async fn is_in_state(ctx: &TestContext, wanted: &str) -> Result<()> {
    let what = format!("be {wanted}");
    wait::until(&ctx.api(), "shelf", &what, |catalog: &CatalogSource| {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        state.is_some_and(|state| state.last_observed_state == wanted)
    })
    .await?;
    Ok(())
}

/// Waits until a Subscription says, in v0's words, that its catalog is the reason, and why.
async fn prevented(ctx: &TestContext, subscription: &str, why: &str) -> Result<()> {
    let failed =
        ctx.condition(subscription, "ResolutionFailed", "True", "ErrorPreventedResolution");
    let message = failed.await?.message.unwrap_or_default();
    let expected = format!("error using catalogsource {}/shelf: {why}", ctx.namespace);
    ensure!(message.starts_with(&expected), "found    {message:?}\nexpected {expected:?}");
    Ok(())
}
