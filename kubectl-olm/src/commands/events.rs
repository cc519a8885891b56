//! `events`: one timeline over a Subscription and all that came of it.

use std::fmt::Debug;

use anyhow::{Context, Result};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use olm_plan::observed::namespace;
use olm_plan::timeline::{Concerned, concerned};
use olm_types::labels::BUNDLE_UNPACK_REF;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::subscription;
use crate::Outcome;
use crate::cluster::{Cluster, TimedOut, cause};
use crate::output::{Kind, Output, Table, age};

/// An event of one of the objects.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    last_seen: Option<String>,
    object: String,
    type_: String,
    reason: String,
    count: i32,
    message: String,
}

/// Prints the events, oldest first.
pub async fn run(
    cluster: &Cluster,
    home: Option<&str>,
    name: &str,
    output: Output,
) -> Result<Outcome> {
    let observed = cluster.observe(home, true).await?;
    let subscription = subscription(&observed, name)?;
    let home = namespace(&subscription.metadata);
    let source = Some(subscription.spec.source_namespace.as_str());
    let source = source.filter(|name| !name.is_empty()).unwrap_or(home);
    let sets =
        metadata(cluster, &cluster.api::<ReplicaSet>(Some(home)), "replicasets", None).await?;
    let unpacks = Some(BUNDLE_UNPACK_REF);
    let jobs = metadata(cluster, &cluster.api::<Job>(Some(source)), "jobs", unpacks).await?;
    let objects = concerned(&observed, subscription, &sets, &jobs);
    let own = cluster.list(&cluster.api::<Event>(Some(home))).await;
    let mut events = own.context("cannot read events")?;
    if source != home {
        let found = cluster.list(&cluster.api::<Event>(Some(source))).await;
        events.extend(noted(found, &format!("events of namespace {source}"))?);
    }
    let concerns = events.into_iter().filter(|event| objects.contains(&object_of(event)));
    let mut entries: Vec<Entry> = concerns.map(entry).collect();
    entries.sort();
    let names = entries.iter().map(|entry| entry.object.clone());
    output.list(Kind::EventList, &entries, table(&entries), names)?;
    Ok(Outcome::Fine)
}

/// The metadata of all objects of a kind, or of those with a label.
async fn metadata<K>(
    cluster: &Cluster,
    api: &Api<K>,
    plural: &str,
    label: Option<&str>,
) -> Result<Vec<ObjectMeta>>
where
    K: Clone + DeserializeOwned + Debug,
{
    noted(cluster.metadata(api, label).await, plural)
}

/// What was read. What may not be read is complained of: the timeline is without it.
fn noted<T>(read: Result<Vec<T>>, what: &str) -> Result<Vec<T>> {
    match read {
        Err(error) if error.downcast_ref::<TimedOut>().is_none() => {
            Output::complain(&format!("warning: cannot read {what}: {}", cause(&error)));
            Ok(Vec::new())
        }
        read => read,
    }
}

fn object_of(event: &Event) -> Concerned {
    let object = &event.involved_object;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    Concerned {
        namespace: text(&object.namespace),
        kind: text(&object.kind),
        name: text(&object.name),
    }
}

fn entry(event: Event) -> Entry {
    let object = object_of(&event);
    let micro = event.event_time.as_ref().map(|time| time.0);
    let seen = event.last_timestamp.as_ref().map(|time| time.0).or(micro);
    Entry {
        last_seen: seen.map(|time| time.to_string()),
        object: format!("{}/{}", object.kind, object.name),
        type_: event.type_.unwrap_or_default(),
        reason: event.reason.unwrap_or_default(),
        count: event.count.unwrap_or(1),
        message: event.message.unwrap_or_default(),
    }
}

fn table(entries: &[Entry]) -> Table {
    let mut table = Table::new(&["NAME", "TYPE", "REASON", "COUNT", "MESSAGE", "AGE"]);
    for entry in entries {
        table.row(vec![
            entry.object.clone(),
            entry.type_.clone(),
            entry.reason.clone(),
            entry.count.to_string(),
            entry.message.clone(),
            age(entry.last_seen.as_deref(), Timestamp::now()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_events() {
        let event: Event = serde_json::from_value(json!({"metadata": {}, "type": "Normal",
            "reason": "Created", "involvedObject": {"kind": "Pod", "name": "a"}, "count": 2,
            "lastTimestamp": "2026-01-02T03:04:05Z", "message": "made"}))
        .unwrap();
        let never = Event::default();
        assert_described(Kind::EventList, &json!({"items": [entry(event), entry(never)]}));
    }
}
