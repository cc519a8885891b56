//! All compared objects of a cluster, and when they have come to rest.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams};
use olm_testkit::dump::Kinds;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::kinds;

/// How often the cluster is looked at while it changes.
const LOOK: Duration = Duration::from_millis(250);

/// Waits until nothing has changed for `quiet`, and nothing is left that Kubernetes will collect;
/// false when the deadline comes first.
pub(super) async fn until_idle(
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
        } else if since.elapsed() >= quiet && now.orphans() == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Every compared object.
pub(super) async fn objects(client: &Client) -> Result<Vec<Value>> {
    let mut all = Kinds::of(kinds::all()).objects(client).await?;
    all.retain(|object| !kinds::is_of_kubernetes(object));
    Ok(all)
}

/// What shows whether any client writes: the metadata of every object.
async fn versions(client: &Client) -> Result<Versions> {
    let mut versions = Versions::default();
    for resource in kinds::all() {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let list = api
            .list_metadata(&ListParams::default())
            .await
            .with_context(|| format!("cannot list {}", resource.plural))?;
        list.into_iter().for_each(|item| versions.add(item.metadata));
        versions.kinds.insert(resource.kind);
    }
    Ok(versions)
}

/// The state of a cluster as far as it takes to see a change; equal as long as no client writes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Versions {
    kinds: BTreeSet<String>,
    uids: BTreeSet<String>,
    resource_versions: BTreeSet<String>,
    /// Of each object that has owners: their kinds and uids.
    owners: Vec<Vec<(String, String)>>,
}

impl Versions {
    fn add(&mut self, metadata: ObjectMeta) {
        self.uids.extend(metadata.uid);
        self.resource_versions.extend(metadata.resource_version);
        let owners = metadata.owner_references.unwrap_or_default();
        if !owners.is_empty() {
            self.owners.push(owners.into_iter().map(|owner| (owner.kind, owner.uid)).collect());
        }
    }

    /// How many objects have lost every owner: the garbage collector is behind.
    fn orphans(&self) -> usize {
        let is_gone =
            |(kind, uid): &(String, String)| self.kinds.contains(kind) && !self.uids.contains(uid);
        self.owners.iter().filter(|owners| owners.iter().all(is_gone)).count()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Versions;

    #[test]
    fn an_orphan_has_lost_every_owner_of_a_compared_kind() {
        let mut versions = Versions::default();
        versions.kinds.insert("Deployment".to_owned());
        let mut add = |uid: &str, owners: &[(&str, &str)]| {
            let owners: Vec<_> = owners
                .iter()
                .map(|(kind, uid)| json!({"apiVersion": "v1", "kind": kind, "name": "n", "uid": uid}))
                .collect();
            let metadata = json!({"uid": uid, "ownerReferences": owners});
            versions.add(serde_json::from_value(metadata).unwrap());
        };
        add("alive", &[]);
        add("owned", &[("Deployment", "alive"), ("Deployment", "gone")]);
        add("of another kind", &[("ReplicaSet", "unknown")]);
        add("orphan", &[("Deployment", "gone")]);
        assert_eq!(versions.orphans(), 1);
    }
}
