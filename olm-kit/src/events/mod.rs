//! Kubernetes events (`v1`, as version 0 writes them).
//!
//! An event that repeats an earlier one raises its count instead of becoming a new object, and
//! each object may cause a burst of events and then one per minute. An event that cannot be
//! written is logged and lost: events are news, never state.

mod correlator;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use olm_effect::{EventNote, EventType, Target};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::clock;
use crate::tasks::chain;
use correlator::{EventCorrelator, EventKey, EventWrite, RecordedEvent};

/// Namespace of events about cluster-scoped objects.
const CLUSTER_EVENTS: &str = "default";

/// The API server cuts nothing and refuses longer messages (1 kB of UTF-8).
const MESSAGE_LIMIT: usize = 1024;

/// Writes events about objects. Clones share the memory of earlier events.
#[derive(Clone)]
pub struct Recorder {
    client: Client,
    component: Arc<str>,
    correlator: Arc<Mutex<EventCorrelator>>,
}

impl Recorder {
    /// A recorder whose events name `component` as their source.
    pub fn new(client: Client, component: &str) -> Self {
        Self { client, component: component.into(), correlator: Arc::default() }
    }

    /// Records an event about `target`; the event as it was written, or `None` when it was
    /// suppressed or lost.
    pub async fn record(&self, target: &Target, note: &EventNote) -> Option<Value> {
        self.record_at(target, note, clock::now()).await
    }

    async fn record_at(&self, target: &Target, note: &EventNote, now: Timestamp) -> Option<Value> {
        let topic = EventKey { target: target.clone(), note: note.clone() };
        let write = self.correlator.lock().decide(&topic, now);
        let written = match write {
            EventWrite::Suppress => {
                tracing::debug!(object = %target, reason = note.reason, "too many events, suppressed");
                return None;
            }
            EventWrite::Create => self.create(&topic, now).await,
            EventWrite::Raise(posted) => match self.raise(&topic, &posted, now).await {
                // The API server forgets events after an hour.
                Err(kube::Error::Api(status)) if status.is_not_found() => {
                    self.create(&topic, now).await
                }
                result => result,
            },
        };
        match written {
            Ok(event) => {
                let (name, count) = (event.metadata.name.clone()?, event.count.unwrap_or(1));
                self.correlator.lock().posted(topic, RecordedEvent { name, count });
                serde_json::to_value(event).ok()
            }
            Err(error) => {
                tracing::warn!(object = %target, reason = note.reason, error = chain(&error), "event lost");
                None
            }
        }
    }

    async fn create(&self, topic: &EventKey, now: Timestamp) -> kube::Result<Event> {
        let event = event(topic, &self.component, now);
        self.events(topic).create(&PostParams::default(), &event).await
    }

    async fn raise(
        &self,
        topic: &EventKey,
        posted: &RecordedEvent,
        now: Timestamp,
    ) -> kube::Result<Event> {
        let count = posted.count.saturating_add(1);
        let patch = json!({"count": count, "lastTimestamp": Time(now)});
        let patch = Patch::Merge(&patch);
        self.events(topic).patch(&posted.name, &PatchParams::default(), &patch).await
    }

    fn events(&self, topic: &EventKey) -> Api<Event> {
        Api::namespaced(self.client.clone(), namespace(&topic.target))
    }
}

fn namespace(target: &Target) -> &str {
    target.namespace.as_deref().unwrap_or(CLUSTER_EVENTS)
}

/// The first event about a topic.
fn event(topic: &EventKey, component: &str, now: Timestamp) -> Event {
    let (target, note) = (&topic.target, &topic.note);
    let type_ = match note.event_type {
        EventType::Normal => "Normal",
        EventType::Warning => "Warning",
    };
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{}.{:x}", target.name, now.as_nanosecond())),
            namespace: Some(namespace(target).to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some(target.resource.api_version()),
            kind: Some(target.resource.kind.clone()),
            namespace: target.namespace.clone(),
            name: Some(target.name.clone()),
            uid: note.uid.clone(),
            field_path: note.field_path.clone(),
            ..ObjectReference::default()
        },
        type_: Some(type_.to_owned()),
        reason: Some(note.reason.clone()),
        message: Some(shortened(&note.message)),
        count: Some(1),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        source: Some(EventSource { component: Some(component.to_owned()), host: None }),
        reporting_component: Some(component.to_owned()),
        ..Event::default()
    }
}

/// The message, cut at a character boundary where it is too long for an event.
fn shortened(message: &str) -> String {
    if message.len() <= MESSAGE_LIMIT {
        return message.to_owned();
    }
    let ellipsis = "…";
    let end = message.floor_char_boundary(MESSAGE_LIMIT - ellipsis.len());
    format!("{}{ellipsis}", message.get(..end).unwrap_or_default())
}
