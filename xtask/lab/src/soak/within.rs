//! Installs the versions of one stretch: each plan is approved by itself, and one that leaves the stretch
//! is not.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use futures::{StreamExt, pin_mut};
use kube::api::{Patch, PatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use olm_types::api::InstallPlan;
use serde_json::json;

use super::follow::{Seen, follow};
use super::plan::Version;
use super::stretches::Stretch;
use super::wishes::Home;

/// Follows until the last version of the stretch has succeeded, nothing changes any more, or the next
/// plan is for a version of another stretch. Gives whether the stretch was passed.
pub(super) async fn follow_within(
    home: &Home,
    stretch: &Stretch,
    versions: &BTreeMap<String, Version>,
    seen: &mut Seen,
) -> Result<bool> {
    tokio::select! {
        arrived = follow(home, &stretch.last, seen) => return arrived,
        left = approve_within(home, stretch, versions) => left?,
    }
    // A channel may pass over the last version. What comes next has a plan since what is there has
    // succeeded.
    let there = seen.look(home).await?;
    Ok(there.iter().any(|name| stretch.versions.contains(name)))
}

/// Approves plans until one is for a version of the package that is not in the stretch.
async fn approve_within(
    home: &Home,
    stretch: &Stretch,
    versions: &BTreeMap<String, Version>,
) -> Result<()> {
    let plans = home.api::<InstallPlan>();
    let config = watcher::Config::default();
    let changes = watcher(plans.clone(), config).default_backoff().applied_objects();
    pin_mut!(changes);
    let patch = Patch::Merge(json!({"spec": {"approved": true}}));
    while let Some(change) = changes.next().await {
        // A watch that fails starts again by itself.
        let Ok(plan) = change else { continue };
        let names: BTreeSet<&String> = plan.spec.cluster_service_version_names.iter().collect();
        let of_package = names.iter().filter(|name| versions.contains_key(**name));
        if !of_package.clone().all(|name| stretch.versions.contains(*name)) {
            return Ok(());
        }
        if !plan.spec.approved {
            let name = plan.metadata.name.unwrap_or_default();
            let approved = plans.patch(&name, &PatchParams::default(), &patch).await;
            approved.context("cannot approve a plan")?;
        }
    }
    Ok(())
}
