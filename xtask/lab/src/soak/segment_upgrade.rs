//! Installs the versions of one segment: each plan is approved by itself, and one that leaves the segment
//! is not.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures::{StreamExt, pin_mut};
use kube::api::{Patch, PatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use olm_types::api::InstallPlan;
use serde_json::json;

use super::follow::{CsvProgress, follow};
use super::plan::Version;
use super::segments::ChannelSegment;
use super::subscriptions::PackageNamespaces;

/// Follows until the last version of the segment has succeeded, or nothing changes any more. A channel may
/// pass over that version: then the segment ends with what was approved before a plan left it.
pub(super) async fn follow_within(
    home: &PackageNamespaces,
    segment: &ChannelSegment,
    versions: &BTreeMap<String, Version>,
    seen: &mut CsvProgress,
) -> Result<bool> {
    let newest = tokio::select! {
        arrived = follow(home, &segment.last, seen) => return arrived,
        newest = approve_within(home, segment, versions) => newest?,
    };
    match newest {
        Some(name) => follow(home, &name, seen).await,
        None => Ok(false),
    }
}

/// Approves plans until one is for a version of the package that is not in the segment; gives the version
/// that was approved last.
async fn approve_within(
    home: &PackageNamespaces,
    segment: &ChannelSegment,
    versions: &BTreeMap<String, Version>,
) -> Result<Option<String>> {
    let mut newest = None;
    let plans = home.api::<InstallPlan>();
    let config = watcher::Config::default();
    let changes = watcher(plans.clone(), config).default_backoff().applied_objects();
    pin_mut!(changes);
    let patch = Patch::Merge(json!({"spec": {"approved": true}}));
    while let Some(change) = changes.next().await {
        // A watch that fails starts again by itself.
        let Ok(plan) = change else { continue };
        let names = plan.spec.cluster_service_version_names.iter();
        let mut of_package = names.filter(|name| versions.contains_key(*name));
        if of_package.clone().any(|name| !segment.versions.contains(name)) {
            return Ok(newest);
        }
        if !plan.spec.approved {
            newest = of_package.next().cloned().or(newest);
            let name = plan.metadata.name.unwrap_or_default();
            let approved = plans.patch(&name, &PatchParams::default(), &patch).await;
            approved.context("cannot approve a plan")?;
        }
    }
    Ok(newest)
}
