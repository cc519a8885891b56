//! Waiting for a condition of an object: by watch, with a deadline, and with a failure that shows
//! what the object looked like instead.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use futures::{StreamExt, pin_mut};
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::Resource;
use kube::api::{Api, ListParams};
use kube::runtime::{WatchStreamExt, watcher};
use olm_types::api::CatalogSource;
use tokio::time::{Instant, sleep, timeout_at};

use crate::dump;

/// What tests wait at most, unless they say otherwise: far more than anything takes on an idle
/// machine, so that a failure means "never" even on a loaded one.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// Between two questions, where no watch reports the answer.
const ASK: Duration = Duration::from_millis(100);

/// An object that can be waited for.
pub trait Waitable:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + 'static
{
}

impl<K> Waitable for K where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + 'static
{
}

/// Waits until the object exists and the condition holds, and returns it.
///
/// `what` completes the sentence "waited for a kind and its name to …".
pub async fn until<K: Waitable>(
    api: &Api<K>,
    name: &str,
    what: &str,
    condition: impl Fn(&K) -> bool,
) -> Result<K> {
    let found = observe(api, name, TIMEOUT, |object| object.is_some_and(&condition)).await;
    match found {
        Ok(Some(object)) => Ok(object),
        Ok(None) => Err(anyhow!("the object is gone")),
        Err(last) => Err(explain(api, name, what, last).await),
    }
}

/// Waits until the operator is connected to a catalog.
pub async fn until_connected(catalogs: &Api<CatalogSource>, name: &str) -> Result<CatalogSource> {
    until(catalogs, name, "be READY", |catalog| {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        state.is_some_and(|state| state.last_observed_state == "READY")
    })
    .await
}

/// Waits until some object with these fields (`path=value,…`) satisfies the condition, and returns
/// it.
///
/// `what` completes the sentence "waited for some kind with these fields to …".
pub async fn until_some<K: Waitable>(
    api: &Api<K>,
    fields: &str,
    what: &str,
    condition: impl Fn(&K) -> bool,
) -> Result<K> {
    let deadline = Instant::now() + TIMEOUT;
    let selection = watcher::Config::default().fields(fields);
    let objects = watcher(api.clone(), selection).default_backoff().applied_objects();
    pin_mut!(objects);
    let mut seen = String::new();
    while let Ok(Some(object)) = timeout_at(deadline, objects.next()).await {
        // A watch that fails starts again by itself.
        let Ok(object) = object else { continue };
        if condition(&object) {
            return Ok(object);
        }
        seen = format!("{seen}\n{}", dump::yaml(&object));
    }
    let (kind, time_limit) = (K::kind(&()), TIMEOUT.as_secs());
    Err(anyhow!("waited {time_limit} s for some {kind} with {fields} to {what}; there were:{seen}"))
}

/// Waits until the object does not exist.
pub async fn until_gone<K: Waitable>(api: &Api<K>, name: &str) -> Result<()> {
    match observe(api, name, TIMEOUT, |object| object.is_none()).await {
        Ok(_) => Ok(()),
        Err(last) => Err(explain(api, name, "be gone", last).await),
    }
}

/// Asks until the answer is no error, for what no watch reports.
///
/// `what` completes the sentence "waited until something …".
pub async fn until_ok<T, E: Into<anyhow::Error>, F>(what: &str, ask: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = std::result::Result<T, E>>,
{
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) if Instant::now() > deadline => {
                let time_limit = TIMEOUT.as_secs();
                return Err(error.into())
                    .with_context(|| format!("waited {time_limit} s until something {what}"));
            }
            Err(_) => sleep(ASK).await,
        }
    }
}

/// Follows an object; the error is its last state.
async fn observe<K: Waitable>(
    api: &Api<K>,
    name: &str,
    time_limit: Duration,
    done: impl Fn(Option<&K>) -> bool,
) -> Result<Option<K>, Option<K>> {
    let deadline = Instant::now() + time_limit;
    let states = watcher::watch_object(api.clone(), name).default_backoff();
    pin_mut!(states);
    let mut last = None;
    while let Ok(Some(state)) = timeout_at(deadline, states.next()).await {
        // A watch that fails starts again by itself.
        let Ok(state) = state else { continue };
        if done(state.as_ref()) {
            return Ok(state);
        }
        last = state;
    }
    Err(last)
}

async fn explain<K: Waitable>(
    api: &Api<K>,
    name: &str,
    what: &str,
    last: Option<K>,
) -> anyhow::Error {
    let kind = K::kind(&());
    let state = match &last {
        Some(object) => dump::yaml(object),
        None => "it does not exist".to_owned(),
    };
    let events = match last.as_ref().and_then(|object| object.meta().namespace.clone()) {
        Some(namespace) => events_of(api.clone().into_client(), &namespace, name).await,
        None => Ok(String::new()),
    };
    let events = events.unwrap_or_else(|error| format!("events cannot be read: {error:#}"));
    anyhow!(
        "waited {} s for {kind} {name} to {what}; last state:\n{state}{events}",
        TIMEOUT.as_secs()
    )
}

async fn events_of(client: kube::Client, namespace: &str, name: &str) -> Result<String> {
    let events: Api<Event> = Api::namespaced(client, namespace);
    let about = ListParams::default().fields(&format!("involvedObject.name={name}"));
    let list = events.list(&about).await.context("cannot list events")?;
    let lines = list.items.iter().map(|event| {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        format!("\nevent {}: {}", text(&event.reason), text(&event.message))
    });
    Ok(lines.collect())
}
