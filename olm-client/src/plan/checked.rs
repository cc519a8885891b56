//! What the API server would make of each object: it is asked in a dry run, as the user.
//!
//! A dry run is authorised like the write, and fails on namespaces and kinds that are not there yet. Such an object
//! keeps the comparison that was made here, and says so.

use futures::stream::{self, StreamExt};
use kube::api::{DynamicObject, PostParams};
use olm_effect::Resource;
use olm_lifecycle::install_plan::execution::Served;
use olm_plan::preview::{Action, Change, Known, Preview, Written};
use olm_types::gvk::Gvk;
use serde_json::{Value, json};

use crate::cluster::{Cluster, cause};

/// Dry runs under way at once.
const AT_ONCE: usize = 8;

/// Most objects of which the API server is asked.
const MOST: usize = 500;

/// What stands for the part of a name that an API server makes up.
const MADE_UP: char = '*';

/// Has the API server check the objects of a preview.
pub async fn check(cluster: &Cluster, known: &Known, preview: &mut Preview) {
    let written = std::mem::take(&mut preview.written);
    let is_shown = |one: &&Written| preview.changes.iter().any(|change| is_of(change, one));
    let asked: Vec<&Written> =
        written.iter().filter(|one| one.after.is_some()).filter(is_shown).collect();
    let answers = asked.into_iter().enumerate().map(|(number, one)| async move {
        let answer = match number < MOST {
            true => dry_run(cluster, one).await,
            false => Err(format!("it is one of more than {MOST}")),
        };
        (one, answer)
    });
    let answers: Vec<_> = stream::iter(answers).buffered(AT_ONCE).collect().await;
    for (one, answer) in answers {
        let place = preview.changes.iter().position(|change| is_of(change, one));
        let Some(change) = place.and_then(|place| preview.changes.get_mut(place)) else { continue };
        match answer {
            Ok(_) if change.action == Action::Create => {}
            Ok(after) => {
                let live = known.objects.get(&one.key).or(one.before.as_ref());
                match Change::of(&one.key, live, Some(&after)) {
                    Some(checked) => change.fields = checked.fields,
                    None => change.fields.clear(),
                }
            }
            Err(why) => change.not_checked = Some(why),
        }
    }
    // What the API server makes no change of is none.
    preview.changes.retain(|change| {
        !matches!(change.action, Action::Change | Action::Replace) || !change.fields.is_empty()
    });
    preview.written = written;
}

fn is_of(change: &Change, written: &Written) -> bool {
    let key = &written.key;
    (&change.group, &change.kind, &change.namespace, &change.name)
        == (&key.group, &key.kind, &key.namespace, &key.name)
}

async fn dry_run(cluster: &Cluster, one: &Written) -> Result<Value, String> {
    let Some(after) = &one.after else { return Err("it goes".to_owned()) };
    let resource = resource(cluster, after).await?;
    let api = cluster.objects(&resource, Some(&one.key.namespace));
    let object: DynamicObject =
        serde_json::from_value(sent(one, after)).map_err(|error| error.to_string())?;
    let parameters = PostParams { dry_run: true, ..PostParams::default() };
    let answer = match &one.before {
        None => cluster.answer(api.create(&parameters, &object)).await,
        Some(_) => cluster.answer(api.replace(&one.key.name, &parameters, &object)).await,
    };
    let mut answer = answer
        .map_err(|error| cause(&error))
        .and_then(|found| serde_json::to_value(found).map_err(|error| error.to_string()))?;
    for field in ["apiVersion", "kind"] {
        answer[field] = after[field].clone();
    }
    Ok(answer)
}

/// An object as it is sent: what a cluster in memory has made up is taken away.
fn sent(one: &Written, after: &Value) -> Value {
    let mut object = after.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    let live = one.before.as_ref().map(|before| before["metadata"].clone()).unwrap_or_default();
    for field in ["uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"]
    {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove(field);
            if let Some(value) = live.get(field).filter(|_| field != "generation") {
                metadata.insert(field.to_owned(), value.clone());
            }
        }
    }
    if one.key.name.ends_with(MADE_UP) {
        let start = one.key.name.trim_end_matches(MADE_UP);
        object["metadata"]["generateName"] = json!(start);
        object["metadata"]["name"] = Value::Null;
    }
    object
}

/// How objects of its kind are asked for.
async fn resource(cluster: &Cluster, object: &Value) -> Result<Resource, String> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let kind = Gvk::from_api_version(text("apiVersion"), text("kind"));
    match cluster.served(&kind).await.map_err(|error| cause(&error))? {
        Served::Kind { resource, .. } => Ok(resource),
        Served::NoKind | Served::NoGroup => Err("the cluster has no such kind".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use olm_plan::preview::Key;

    use super::*;

    fn written(name: &str, before: Option<Value>) -> Written {
        let [group, kind, namespace] = ["", "Service", "ns"].map(str::to_owned);
        let after = json!({"apiVersion": "v1", "kind": "Service", "spec": {}, "status": {},
            "metadata": {"name": name, "uid": "preview-1", "resourceVersion": "7", "generation": 1}});
        Written {
            key: Key { group, kind, namespace, name: name.to_owned() },
            before,
            after: Some(after),
        }
    }

    #[test]
    fn what_a_cluster_in_memory_makes_up_is_not_sent() {
        let new = written("a", None);
        let object = sent(&new, new.after.as_ref().unwrap());
        assert_eq!(
            object,
            json!({"apiVersion": "v1", "kind": "Service", "spec": {},
            "metadata": {"name": "a"}})
        );
        let live = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "3"}});
        let changed = written("a", Some(live));
        let metadata = sent(&changed, changed.after.as_ref().unwrap())["metadata"].clone();
        assert_eq!(metadata, json!({"name": "a", "uid": "u", "resourceVersion": "3"}));
        let made_up = written("hook-*", None);
        let metadata = sent(&made_up, made_up.after.as_ref().unwrap())["metadata"].clone();
        assert_eq!(metadata, json!({"name": null, "generateName": "hook-"}));
    }
}
