//! What a Subscription says about its catalog, and operators that were there before it.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::annotations::PROPERTIES;
use olm_types::api::{InstallPlan, Subscription};
use serde_json::json;

use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::{TestContext, conditions, same};
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "subscriptions::deprecated",
            "a Subscription passes on what its catalog deprecates, as long as it does",
            deprecated,
        ),
        scenario(
            "subscriptions::made_anew",
            "a Subscription that was deleted and made anew takes its operator over and upgrades it",
            made_anew,
        ),
        scenario(
            "subscriptions::applied_by_hand",
            "a CSV that no catalog vouches for blocks its package, and the Subscription says so",
            applied_by_hand,
        ),
    ]
}

fn lamp(version: &str) -> Bundle {
    let csv = csv(&format!("lamp.v{version}"), version).deployment("lamp", "default");
    Bundle::new(version, &csv)
}

/// Package, channel and bundle are deprecated; later only the package is.
async fn deprecated(ctx: Arc<TestContext>) -> Result<()> {
    let lamps = || Package::single("lamp", lamp("1.0.0"));
    let package = json!({"schema": "olm.package"});
    let all = lamps()
        .deprecated(package.clone(), "use torches")
        .deprecated(json!({"schema": "olm.channel", "name": "stable"}), "use fast")
        .deprecated(json!({"schema": "olm.bundle", "name": "lamp.v1.0.0"}), "it flickers");
    ctx.operator_group().await?;
    ctx.catalog("hall", &[all]).await?;
    ctx.subscribe("lamp", "hall").await?;
    ctx.succeeded("lamp.v1.0.0").await?;
    let rollup = "olm.package/lamp: use torches; olm.channel/stable: use fast; olm.bundle/lamp.v1.0.0: it flickers";
    let subscription = reported(&ctx, rollup).await?;
    let parts = ["PackageDeprecated", "ChannelDeprecated", "BundleDeprecated"];
    let said = parts.map(|kind| message(&subscription, kind).unwrap_or_default().to_owned());
    ensure!(said.join("; ") == rollup, "the conditions say {said:?}");

    ctx.publish("hall", &[lamps().deprecated(package, "use torches")]).await?;
    let subscription = reported(&ctx, "olm.package/lamp: use torches").await?;
    ensure!(message(&subscription, "BundleDeprecated").is_none(), "the bundle is still deprecated");
    Ok(())
}

/// The operator outlives its Subscription; the next one goes on from it.
async fn made_anew(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("hall", &[Package::single("lamp", lamp("1.0.0"))]).await?;
    ctx.subscribe("lamp", "hall").await?;
    ctx.succeeded("lamp.v1.0.0").await?;
    ctx.at_latest("lamp", "lamp.v1.0.0").await?;
    let subscriptions: Api<Subscription> = ctx.api();
    subscriptions.delete("lamp", &DeleteParams::default()).await.context("cannot delete")?;
    wait::until_gone(&subscriptions, "lamp").await?;

    ctx.subscribe("lamp", "hall").await?;
    ctx.at_latest("lamp", "lamp.v1.0.0").await?;
    let adopted = |event: &Event| event.reason.as_deref() == Some("CSVAdopted");
    wait::until_some(&ctx.api(), "", "report the adoption", adopted).await?;
    let newer = lamp("1.1.0").replaces("lamp.v1.0.0");
    let package = Package::new("lamp").channel("stable", vec![lamp("1.0.0"), newer]);
    ctx.publish("hall", &[package]).await?;
    ctx.at_latest("lamp", "lamp.v1.1.0").await?;
    ctx.succeeded("lamp.v1.1.0").await.map(drop)
}

/// The channel has no entry of this name, so nothing says that it may be replaced.
async fn applied_by_hand(ctx: Arc<TestContext>) -> Result<()> {
    let properties = json!({"properties": [
        {"type": "olm.package", "value": {"packageName": "lamp", "version": "0.1.0"}},
    ]});
    let annotations = [(PROPERTIES.to_owned(), properties.to_string())].into();
    let own = csv("lamp.homemade", "0.1.0").deployment("lamp", "default");
    let own = own.with(|csv| csv.metadata.annotations = Some(annotations)).build();
    ctx.operator_group().await?;
    ctx.create(&own).await?;
    ctx.catalog("hall", &[Package::single("lamp", lamp("1.0.0"))]).await?;
    ctx.subscribe("lamp", "hall").await?;
    let condition =
        ctx.condition("lamp", "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    let message = condition.message.unwrap_or_default();
    ensure!(message.contains("lamp.homemade"), "nothing names the CSV: {message}");
    let plans: Api<InstallPlan> = ctx.api();
    ensure!(plans.list(&ListParams::default()).await?.items.is_empty(), "there is a plan");
    Ok(())
}

async fn reported(ctx: &TestContext, text: &str) -> Result<Subscription> {
    let what = format!("say {text:?}");
    let subscription = wait::until(&ctx.api(), "lamp", &what, |subscription: &Subscription| {
        message(subscription, "Deprecated") == Some(text)
    })
    .await?;
    same(message(&subscription, "PackageDeprecated"), "olm.package/lamp: use torches")?;
    Ok(subscription)
}

fn message<'a>(subscription: &'a Subscription, kind: &str) -> Option<&'a str> {
    let found = conditions(subscription).iter().find(|condition| condition.type_ == kind)?;
    found.message.as_deref()
}
