//! `events`: one timeline over a Subscription and all that came of it.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use olm_plan::observed::namespace;
use olm_plan::tree::{Node, tree};
use serde::Serialize;

use super::subscription;
use crate::Outcome;
use crate::cluster::Cluster;
use crate::output::{Output, Table, age};

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
    let mut objects = BTreeSet::new();
    collect(&tree(&observed, subscription), &mut objects);
    let api = cluster.api::<Event>(Some(namespace(&subscription.metadata)));
    let events = cluster.list(&api).await.context("cannot read events")?;
    let concerns = events.into_iter().filter(|event| objects.contains(&object_of(event)));
    let mut entries: Vec<Entry> = concerns.map(entry).collect();
    entries.sort();
    let names = entries.iter().map(|entry| entry.object.clone());
    output.list("EventList", &entries, table(&entries), names)?;
    Ok(Outcome::Fine)
}

/// KIND/NAME of each object of a tree.
fn collect(node: &Node, objects: &mut BTreeSet<String>) {
    objects.insert(format!("{}/{}", node.kind, node.name));
    node.children.iter().for_each(|child| collect(child, objects));
}

fn object_of(event: &Event) -> String {
    let object = &event.involved_object;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    format!("{}/{}", text(&object.kind), text(&object.name))
}

fn entry(event: Event) -> Entry {
    let micro = event.event_time.as_ref().map(|time| time.0);
    let seen = event.last_timestamp.as_ref().map(|time| time.0).or(micro);
    Entry {
        last_seen: seen.map(|time| time.to_string()),
        object: object_of(&event),
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
