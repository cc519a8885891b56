//! The next version is planned while steps of the older plan are still to come.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::DeleteParams;
use olm_types::api::{ClusterServiceVersion, InstallPlan, InstallPlanPhase};
use serde_json::json;

use super::{kettle, kettles, stable};
use crate::builders;
use crate::e2e::context::TestContext;
use crate::history::{Change, History};
use crate::wait;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v1.1.0";

/// The older plan meets an object that it cannot change. The newer one touches nothing until the
/// object is gone and the older one is done.
pub async fn one_plan_at_a_time(ctx: Arc<TestContext>) -> Result<()> {
    let (kind, maps) = (kettles(&ctx), ctx.api::<ConfigMap>());
    let (plans, csvs) = (ctx.api::<InstallPlan>(), ctx.api::<ClusterServiceVersion>());
    let history = (History::of(plans.clone()).await?, History::of(csvs.clone()).await?);
    let old = kettle("1.0.0", &kind).manifest(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scale"}, "data": {"removed": "yes"},
    }));
    let new = kettle("1.1.0", &kind).replaces(OLD);
    ctx.operator_group().await?;
    ctx.create(&chalk(&ctx.namespace)).await?;
    ctx.catalog("kitchen", &stable(&[old, new])).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.starting_csv = Some(OLD.to_owned());
    ctx.create(&subscription).await?;

    let older = wait::until_some(&plans, "", "be tried again", |plan| {
        is_for(plan, OLD) && is_retried(plan)
    });
    let waits = format!("waiting for InstallPlan {}, ", older.await?.name_any());
    wait::until_some(&plans, "", "wait for the older one", |plan| {
        is_for(plan, NEW)
            && phase(plan) == InstallPlanPhase::Installing
            && message(plan).starts_with(&waits)
    })
    .await?;
    ensure!(csvs.get_opt(NEW).await?.is_none(), "the newer plan was executed");
    maps.delete("scale", &DeleteParams::default()).await.context("cannot give way")?;
    ctx.at_latest("kettle", NEW).await?;
    ctx.succeeded(NEW).await?;
    check_order(&history.0.so_far(), &history.1.so_far())
}

/// A ConfigMap that cannot be changed.
fn chalk(namespace: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some("scale".to_owned()),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("removed".to_owned(), "no".to_owned())])),
        immutable: Some(true),
        ..ConfigMap::default()
    }
}

fn is_for(plan: &InstallPlan, csv: &str) -> bool {
    plan.spec.cluster_service_version_names.iter().any(|name| name == csv)
}

fn is_retried(plan: &InstallPlan) -> bool {
    message(plan).starts_with("retrying execution due to error")
}

fn message(plan: &InstallPlan) -> &str {
    plan.status.as_ref().and_then(|status| status.message.as_deref()).unwrap_or_default()
}

fn phase(plan: &InstallPlan) -> InstallPlanPhase {
    plan.status.as_ref().map(|status| status.phase).unwrap_or_default()
}

fn check_order(
    plans: &[Change<InstallPlan>],
    csvs: &[Change<ClusterServiceVersion>],
) -> Result<()> {
    let is_done = |change: &&Change<InstallPlan>| match change {
        Change::Is(plan) => is_for(plan, OLD) && phase(plan) == InstallPlanPhase::Complete,
        Change::Gone(_) => false,
    };
    let done = plans.iter().find(is_done).and_then(Change::revision).context("it is not done")?;
    let made = csvs.iter().find(|change| change.name() == NEW).and_then(Change::revision);
    let made = made.context("there is no newer version")?;
    ensure!(done < made, "the newer plan was executed at {made}, the older one done at {done}");
    Ok(())
}
