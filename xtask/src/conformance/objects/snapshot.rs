//! All compared objects of a cluster, and when they have come to rest.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::kinds;

/// How often the cluster is looked at while it changes.
const LOOK: Duration = Duration::from_millis(250);

/// Waits until nothing has changed for `quiet`; false when the deadline comes first.
pub(super) async fn until_quiet(
    client: &Client,
    quiet: Duration,
    deadline: Instant,
) -> Result<bool> {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = versions(client).await?;
    let mut since = Instant::now();
    while Instant::now() < deadline {
        looks.tick().await;
        let now = versions(client).await?;
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() >= quiet {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Every compared object.
pub(super) async fn objects(client: &Client) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for resource in kinds::all() {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let list = api
            .list(&ListParams::default())
            .await
            .with_context(|| format!("cannot list {}", resource.plural))?;
        for object in list {
            all.extend(with_kind(&resource, &object)?);
        }
    }
    Ok(all)
}

/// Elements of a list do not say what they are. Objects that are not compared are left out.
fn with_kind(resource: &ApiResource, object: &DynamicObject) -> Result<Option<Value>> {
    let mut value = serde_json::to_value(object).context("an object cannot be shown as JSON")?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("apiVersion".to_owned(), resource.api_version.as_str().into());
        fields.insert("kind".to_owned(), resource.kind.as_str().into());
    }
    Ok(Some(value).filter(|value| !kinds::comes_with_a_namespace(&resource.kind, value)))
}

/// Id and version of every object: they are equal as long as nobody writes.
async fn versions(client: &Client) -> Result<BTreeSet<(Option<String>, Option<String>)>> {
    let mut all = BTreeSet::new();
    for resource in kinds::all() {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let list = api
            .list_metadata(&ListParams::default())
            .await
            .with_context(|| format!("cannot list {}", resource.plural))?;
        all.extend(
            list.into_iter().map(|item| (item.metadata.uid, item.metadata.resource_version)),
        );
    }
    Ok(all)
}
