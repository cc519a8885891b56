//! The next version's bundle has other objects.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::Api;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::{Value, json};

use super::{kettle, kettles, stable};
use crate::builders::Bundle;
use crate::e2e::context::TestContext;
use crate::history::{Change, History};

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v2.0.0";

/// Objects that the new bundle does not have go, but not before the new version has succeeded. What
/// both have stays the same object, and gets the new content.
pub async fn renamed_dropped_changed(ctx: Arc<TestContext>) -> Result<()> {
    let (kind, maps) = (kettles(&ctx), ctx.api::<ConfigMap>());
    let old = kettle("1.0.0", &kind);
    let old = with(old, &[("kept", "1"), ("changed", "1"), ("old-name", "1"), ("dropped", "1")]);
    let new = kettle("2.0.0", &kind).replaces(OLD);
    let new = with(new, &[("kept", "1"), ("changed", "2"), ("new-name", "1")]);
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(std::slice::from_ref(&old))).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.at_latest("kettle", OLD).await?;
    ctx.succeeded(OLD).await?;
    let before = [maps.get("kept").await?, maps.get("changed").await?];

    let (csvs, gone) = (History::of(ctx.api()).await?, History::of(maps.clone()).await?);
    ctx.publish("kitchen", &stable(&[old, new])).await?;
    ctx.at_latest("kettle", NEW).await?;
    went_after_success(&csvs, &gone, &["old-name", "dropped"]).await?;
    for (name, (before, value)) in ["kept", "changed"].iter().zip(before.iter().zip(["1", "2"])) {
        is_same(&maps, name, before, value).await?;
    }
    maps.get("new-name").await.map(drop).context("the renamed object is not there")
}

fn with(bundle: Bundle, maps: &[(&str, &str)]) -> Bundle {
    maps.iter().fold(bundle, |bundle, (name, value)| bundle.manifest(map(name, value)))
}

fn map(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value},
    })
}

async fn went_after_success(
    csvs: &History<ClusterServiceVersion>,
    maps: &History<ConfigMap>,
    names: &[&str],
) -> Result<()> {
    let succeeded = csvs.until("show success", |recorded| succeeded_at(recorded).is_some()).await?;
    let succeeded = succeeded_at(&succeeded).context("no success")?;
    for name in names {
        let what = format!("end {name}");
        let recorded = maps.until(&what, |recorded| gone_at(recorded, name).is_some()).await?;
        let gone = gone_at(&recorded, name).context("it is there")?;
        ensure!(gone > succeeded, "{name} went before {NEW} had succeeded");
    }
    Ok(())
}

fn succeeded_at(recorded: &[Change<ClusterServiceVersion>]) -> Option<u64> {
    recorded.iter().find_map(|change| match change {
        Change::Is(csv) if csv.name_any() == NEW => {
            let phase = csv.status.as_ref().map(|status| status.phase);
            (phase == Some(CsvPhase::Succeeded)).then(|| change.revision()).flatten()
        }
        _ => None,
    })
}

fn gone_at(recorded: &[Change<ConfigMap>], name: &str) -> Option<u64> {
    recorded.iter().find_map(|change| match change {
        Change::Gone(map) if map.name_any() == name => change.revision(),
        _ => None,
    })
}

async fn is_same(maps: &Api<ConfigMap>, name: &str, before: &ConfigMap, value: &str) -> Result<()> {
    let after = maps.get(name).await.with_context(|| format!("{name} is gone"))?;
    ensure!(after.uid() == before.uid(), "{name} was made anew");
    let found = after.data.as_ref().and_then(|data| data.get("value"));
    ensure!(found.is_some_and(|found| found == value), "{name} holds {found:?}");
    let owners = after.owner_references();
    ensure!(owners.iter().any(|owner| owner.name == NEW), "{name} belongs to {owners:?}");
    Ok(())
}
