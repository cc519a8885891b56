//! What happened to an operator: the events of a Subscription and of all that came of it.

use std::fmt::Debug;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use olm_plan::Observed;
use olm_plan::observed::namespace;
use olm_plan::timeline::{EventSubject, concerned};
use olm_types::api::Subscription;
use olm_types::labels::BUNDLE_UNPACK_REF;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cluster::{Cluster, TimedOut, cause};

/// An event of one of the objects.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEvent {
    /// When it was seen last, RFC 3339.
    pub last_seen: Option<String>,
    /// KIND/NAME.
    pub object: String,
    /// `Normal` or `Warning`.
    pub type_: String,
    /// In one word.
    pub reason: String,
    /// How often.
    pub count: i32,
    /// In a sentence.
    pub message: String,
}

/// The events of a Subscription, of what came of it, as far as that was observed, and of others, oldest first.
///
/// # Errors
/// The events of its namespace cannot be read, or time runs out.
pub async fn timeline(
    cluster: &Cluster,
    observed: &Observed,
    subscription: &Subscription,
    others: impl IntoIterator<Item = EventSubject>,
) -> Result<Vec<TimelineEvent>> {
    let home = namespace(&subscription.metadata);
    let source = Some(subscription.spec.source_namespace.as_str());
    let source = source.filter(|name| !name.is_empty()).unwrap_or(home);
    let sets =
        metadata(cluster, &cluster.api::<ReplicaSet>(Some(home)), "replicasets", None).await?;
    let unpacks = Some(BUNDLE_UNPACK_REF);
    let jobs = metadata(cluster, &cluster.api::<Job>(Some(source)), "jobs", unpacks).await?;
    let mut objects = concerned(observed, subscription, &sets, &jobs);
    objects.extend(others);
    let own = cluster.list(&cluster.api::<Event>(Some(home))).await;
    let mut events = own.context("cannot read events")?;
    if source != home {
        let found = cluster.list(&cluster.api::<Event>(Some(source))).await;
        events.extend(noted(cluster, found, &format!("events of namespace {source}"))?);
    }
    let concerns = events.into_iter().filter(|event| objects.contains(&object_of(event)));
    let mut entries: Vec<TimelineEvent> = concerns.map(TimelineEvent::from).collect();
    entries.sort();
    Ok(entries)
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
    noted(cluster, cluster.metadata(api, label).await, plural)
}

/// What was read. What may not be read is complained of: the timeline is without it.
fn noted<T>(cluster: &Cluster, read: Result<Vec<T>>, what: &str) -> Result<Vec<T>> {
    match read {
        Err(error) if error.downcast_ref::<TimedOut>().is_none() => {
            cluster.notices.say(&format!("warning: cannot read {what}: {}", cause(&error)));
            Ok(Vec::new())
        }
        read => read,
    }
}

fn object_of(event: &Event) -> EventSubject {
    let object = &event.involved_object;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    EventSubject {
        namespace: text(&object.namespace),
        kind: text(&object.kind),
        name: text(&object.name),
    }
}

impl From<Event> for TimelineEvent {
    fn from(event: Event) -> Self {
        let object = object_of(&event);
        let micro = event.event_time.as_ref().map(|time| time.0);
        let seen = event.last_timestamp.as_ref().map(|time| time.0).or(micro);
        Self {
            last_seen: seen.map(|time| time.to_string()),
            object: format!("{}/{}", object.kind, object.name),
            type_: event.type_.unwrap_or_default(),
            reason: event.reason.unwrap_or_default(),
            count: event.count.unwrap_or(1),
            message: event.message.unwrap_or_default(),
        }
    }
}
