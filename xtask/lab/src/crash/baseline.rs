//! The objects of a cluster before a run, what a run makes of them, and the way back.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams,
};
use olm_testkit::dump::{Dump, Key, Kinds, diff, normalise};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// What the way back may take: garbage collection of Kubernetes is part of it.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// The state at the beginning of each run.
pub(super) struct Baseline {
    kinds: Kinds,
    initial: Dump,
}

impl Baseline {
    /// Everything is as it should be now.
    pub(super) async fn record(client: &Client) -> Result<Self> {
        let kinds = Kinds::discover(client).await?;
        let initial = normalise(kinds.objects(client).await?);
        Ok(Self { kinds, initial })
    }

    /// What is not as in the beginning, in normal form; null where an object has gone.
    pub(super) async fn changes(&self, client: &Client) -> Result<Dump> {
        let mut now = normalise(self.kinds.objects(client).await?);
        let gone = self.initial.keys().filter(|key| !now.contains_key(*key));
        let gone: Vec<Key> = gone.cloned().collect();
        now.retain(|key, object| self.initial.get(key) != Some(object));
        now.extend(gone.into_iter().map(|key| (key, Value::Null)));
        Ok(now)
    }

    /// Makes everything as it was in the beginning. No operator may run meanwhile.
    pub(super) async fn wipe(&self, client: &Client) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let changes = self.changes(client).await?;
            if changes.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let differences = diff(&self.initial_of(&changes), &changes);
                let lines: String = differences.iter().map(|one| format!("\n{one}")).collect();
                bail!("a run left something that cannot be taken back:{lines}");
            }
            for (key, object) in &changes {
                self.take_back(client, key, object).await?;
            }
            sleep(LOOK).await;
        }
    }

    fn initial_of(&self, changes: &Dump) -> Dump {
        let initial = self.initial.iter().filter(|(key, _)| changes.contains_key(*key));
        initial.map(|(key, object)| (key.clone(), object.clone())).collect()
    }

    /// One step back for one object; the next look shows whether it was enough.
    async fn take_back(&self, client: &Client, key: &Key, object: &Value) -> Result<()> {
        let Some(resource) = self.kinds.get(&key.kind) else { return Ok(()) };
        let api: Api<DynamicObject> = match key.namespace.as_str() {
            "" => Api::all_with(client.clone(), resource),
            namespace => Api::namespaced_with(client.clone(), namespace, resource),
        };
        // Names in normal form are not the real ones.
        if key.kind == "InstallPlan" || key.kind.ends_with("WebhookConfiguration") {
            let all = api.delete_collection(&DeleteParams::default(), &Default::default()).await;
            return all.map(drop).with_context(|| format!("cannot delete all of {}", key.kind));
        }
        let answer = match self.initial.get(key) {
            Some(initial) if key.kind == "Namespace" => relabel(&api, &key.name, initial).await,
            // Owners take these with them, controllers of Kubernetes repair those.
            _ if is_controlled(object) || self.initial.contains_key(key) => Ok(()),
            // A definition that goes before its kind was ever served takes minutes to go.
            None if is_definition(object) && !is_served(client, object).await => Ok(()),
            None => remove(&api, &key.name, object).await,
            Some(_) => Ok(()),
        };
        match answer {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            answer => answer.with_context(|| format!("cannot take {key} back")),
        }
    }
}

async fn relabel(api: &Api<DynamicObject>, name: &str, initial: &Value) -> kube::Result<()> {
    let patch = Patch::Merge(labels_back(initial, api.get(name).await?.metadata));
    api.patch(name, &PatchParams::default(), &patch).await.map(drop)
}

async fn remove(api: &Api<DynamicObject>, name: &str, object: &Value) -> kube::Result<()> {
    let has = |pointer| object.pointer(pointer).is_some();
    // Whoever set them does not run now. The API server sees to those of definitions itself.
    if has("/metadata/finalizers") && !is_definition(object) {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        api.patch(name, &PatchParams::default(), &patch).await?;
    }
    if has("/metadata/deletionTimestamp") {
        return Ok(());
    }
    api.delete(name, &DeleteParams::background()).await.map(drop)
}

fn is_definition(object: &Value) -> bool {
    object.get("kind") == Some(&json!("CustomResourceDefinition"))
}

/// Whether objects of a definition's first version can be listed; so they can when it is going.
async fn is_served(client: &Client, definition: &Value) -> bool {
    let text = |pointer| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let resource = ApiResource {
        group: text("/spec/group").to_owned(),
        version: text("/spec/versions/0/name").to_owned(),
        api_version: format!("{}/{}", text("/spec/group"), text("/spec/versions/0/name")),
        kind: text("/spec/names/kind").to_owned(),
        plural: text("/spec/names/plural").to_owned(),
    };
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    api.list_metadata(&ListParams::default()).await.is_ok()
}

/// A patch that removes new labels and annotations, and gives old ones their values. Keys in normal form are not
/// the real ones, which are those of the live object.
fn labels_back(initial: &Value, live: ObjectMeta) -> Value {
    let back = |field: &str, now: Option<BTreeMap<String, String>>| {
        let now = now.unwrap_or_default().into_keys().map(|key| (key, Value::Null));
        let old = initial["metadata"][field].as_object().cloned().unwrap_or_default();
        now.chain(old).collect::<BTreeMap<_, _>>()
    };
    let (labels, annotations) =
        (back("labels", live.labels), back("annotations", live.annotations));
    json!({"metadata": {"labels": labels, "annotations": annotations}})
}

fn is_controlled(object: &Value) -> bool {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().any(|owner| owner.get("controller") == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_controlled, labels_back};

    #[test]
    fn labels_get_their_old_values_and_new_ones_go() {
        let initial = json!({"metadata": {"labels": {"old": "1"}}});
        let live = json!({"labels": {"old": "2", "new": "x"}, "annotations": {"a": ""}});
        let patch = labels_back(&initial, serde_json::from_value(live).unwrap());
        let expected = json!({"labels": {"old": "1", "new": null}, "annotations": {"a": null}});
        assert_eq!(patch["metadata"], expected);
    }

    #[test]
    fn only_a_controller_takes_its_objects_with_it() {
        let owned = |by: serde_json::Value| json!({"metadata": {"ownerReferences": [by]}});
        assert!(is_controlled(&owned(json!({"kind": "Deployment", "controller": true}))));
        assert!(!is_controlled(&owned(
            json!({"kind": "ClusterServiceVersion", "controller": false})
        )));
        assert!(!is_controlled(&json!({"metadata": {}})));
    }
}
