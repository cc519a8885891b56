//! How soon a changed CSV shows in its Deployment.
//!
//! The field that is changed restarts no pod, so that what is timed is the operator and the API
//! server, not the node.

use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::{Stream, StreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::watcher::{self, Event, watcher};
use olm_types::api::ClusterServiceVersion;
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::load::{CSV, WORKER};
use crate::scale::namespaces::{LoadNamespace, Namespaces};

/// What one effect may take before the operator counts as stuck.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Kubernetes' default of the field that is changed; each change adds one second.
const DEADLINE: i32 = 600;

/// Times so many changes, each of another CSV, one after the other.
pub(super) async fn times(namespaces: &Namespaces, changes: usize) -> Result<Vec<Duration>> {
    let deployments: Api<Deployment> = Api::all(namespaces.client());
    let named = watcher::Config::default().fields(&format!("metadata.name={WORKER}"));
    let mut events = pin!(watcher(deployments, named));
    listed(&mut events).await?;
    let mut times = Vec::new();
    let homes = namespaces.names().iter().cycle().take(changes);
    for (name, value) in homes.zip(DEADLINE + 1..) {
        let started = Instant::now();
        change(&namespaces.home(name), value).await?;
        seen(&mut events, name, value).await?;
        times.push(started.elapsed());
    }
    Ok(times)
}

async fn change(home: &LoadNamespace, value: i32) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(home.client.clone(), &home.name);
    let path = "/spec/install/spec/deployments/0/spec/progressDeadlineSeconds";
    let patch = json!([{"op": "add", "path": path, "value": value}]);
    let patch: Patch<()> = Patch::Json(serde_json::from_value(patch).context("a bad patch")?);
    let changed = csvs.patch(CSV, &PatchParams::default(), &patch).await;
    changed.with_context(|| format!("cannot change the CSV of {}", home.name))?;
    Ok(())
}

/// Waits until the Deployment of a namespace has the value.
async fn seen<S>(events: &mut S, namespace: &str, value: i32) -> Result<()>
where
    S: Stream<Item = Result<Event<Deployment>, watcher::Error>> + Unpin,
{
    let deadline = Instant::now() + TIMEOUT;
    while let Ok(Some(event)) = timeout_at(deadline, events.next()).await {
        let (Event::Apply(deployment) | Event::InitApply(deployment)) =
            event.context("the watch on Deployments broke")?
        else {
            continue;
        };
        let spec = deployment.spec.unwrap_or_default();
        if deployment.metadata.namespace.as_deref() == Some(namespace)
            && spec.progress_deadline_seconds == Some(value)
        {
            return Ok(());
        }
    }
    bail!("the Deployment of {namespace} has not followed its CSV after {TIMEOUT:?}")
}

/// Waits until the watch has shown what is there.
async fn listed<S>(events: &mut S) -> Result<()>
where
    S: Stream<Item = Result<Event<Deployment>, watcher::Error>> + Unpin,
{
    let deadline = Instant::now() + TIMEOUT;
    while let Ok(Some(event)) = timeout_at(deadline, events.next()).await {
        if let Event::InitDone = event.context("cannot watch Deployments")? {
            return Ok(());
        }
    }
    bail!("Deployments were not listed after {TIMEOUT:?}")
}
