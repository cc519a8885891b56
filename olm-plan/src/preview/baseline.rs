//! Deployments as OLM has written them, in place of what an API server has made of them: a comparison would show
//! its defaults.
//!
//! OLM itself says what it has written, once more: the CSV is installed in a cluster in memory of its own. What was
//! changed since then is shown as it is.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::labels::DEPLOYMENT_SPEC_HASH;
use serde_json::{Value, json};

use super::PreviewRequest;
use super::forward::own_csvs;
use super::known::Key;
use super::operator::{Work, converge};
use super::prepare::olm_key;
use super::world::World;
use crate::observed::name;

/// Takes the Deployments of these CSVs, as far as they were there before, for what OLM has written.
pub(super) fn assume(asked: &PreviewRequest, world: &mut World<'_>, csvs: &BTreeSet<String>) {
    for csv in own_csvs(world, &asked.namespace) {
        let own = olm_key(ClusterServiceVersion::KIND, &asked.namespace, name(&csv.metadata));
        let was_there = world.known().objects.contains_key(&own);
        if !was_there || !csvs.contains(&own.name) || csv.phase() != CsvPhase::Succeeded {
            continue;
        }
        for written in written(asked, world, &csv) {
            let Some(key) = Key::of(&written) else { continue };
            let live = world.get(&key).cloned();
            let unchanged = live.as_ref().is_none_or(|live| hash(live) == hash(&written));
            if unchanged {
                world.assume(as_is(written, live.as_ref()));
            }
        }
    }
}

/// The Deployments that the CSV would be installed with now.
fn written(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    csv: &ClusterServiceVersion,
) -> Vec<Value> {
    let home = asked.namespace.as_str();
    let mut scratch = World::new(world.known());
    let own = olm_key(ClusterServiceVersion::KIND, home, name(&csv.metadata));
    let Some(mut object) = scratch.get(&own).cloned() else { return Vec::new() };
    object["status"] = json!({});
    scratch.put(own, Some(object));
    for key in deployments(&scratch, home) {
        scratch.put(key, None);
    }
    let csvs = BTreeSet::from([name(&csv.metadata).to_owned()]);
    converge(&mut scratch, &Work { asked, csvs }, &mut Vec::new());
    world.needs.append(&mut scratch.needs);
    let keys = deployments(&scratch, home);
    keys.iter().filter_map(|key| scratch.get(key).cloned()).collect()
}

fn deployments(world: &World<'_>, home: &str) -> Vec<Key> {
    let kind = <Deployment as k8s_openapi::Resource>::KIND;
    let own = world.objects().filter(|(key, _)| key.kind == kind && key.namespace == home);
    own.map(|(key, _)| key.clone()).collect()
}

fn hash(object: &Value) -> Option<&str> {
    object.pointer("/metadata/labels")?.get(DEPLOYMENT_SPEC_HASH)?.as_str()
}

/// What was written, with the identity of what is there.
fn as_is(mut written: Value, live: Option<&Value>) -> Value {
    let Some(live) = live else { return written };
    for field in ["uid", "resourceVersion", "creationTimestamp", "ownerReferences"] {
        if let Some(value) = live["metadata"].get(field) {
            written["metadata"][field] = value.clone();
        }
    }
    written["status"] = live["status"].clone();
    written
}
