//! One watch: of one kind, in one namespace, with the rights of one session.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use jiff::Timestamp;
use kube::api::{Api, DynamicObject};
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{Config, DefaultBackoff, Error, Event, watcher};
use olm_client::Cluster;
use tokio::sync::watch::Sender;
use tokio::time::{sleep, timeout};

use super::kinds::{Kind, WatchScope};

/// Objects without spec and status.
type MetadataOnly = PartialObjectMeta<DynamicObject>;

/// Seconds after which the API server ends a watch, which goes on with the next one: less than the five minutes
/// after which proxies take a connection for dead.
const LONGEST: u32 = 280;

/// How long a part of the first list may take.
const LISTING: Duration = Duration::from_secs(60);

/// A pause where none is given.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What is watched, and with whose rights.
pub(crate) struct Watched {
    /// Asked with these rights.
    pub(crate) cluster: Cluster,
    /// Of which kind.
    pub(crate) kind: &'static Kind,
    /// The namespace of the page.
    pub(crate) namespace: String,
    /// The namespace of global catalogs, where a flag names it.
    pub(crate) global: Option<String>,
}

/// How a watch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The first list is not complete.
    Beginning,
    /// Changes come as they happen.
    Following,
    /// There is no answer. It was followed until then, if ever.
    Lost(Option<Timestamp>),
    /// The API server does not let the session watch; it is not asked again.
    Refused(Refusal),
}

/// Why there is no watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A right is missing.
    Forbidden,
    /// The cluster does not have the kind.
    NoSuchKind,
    /// The token or the certificate is not accepted any more.
    SignedOut,
}

/// What a watch has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WatchState {
    /// How it is.
    pub(crate) condition: Condition,
    /// Stands for all objects in their versions; 0 where none was listed.
    pub(crate) digest: u64,
}

impl WatchState {
    /// Nothing was found yet.
    pub(crate) const BEGIN: Self = Self { condition: Condition::Beginning, digest: 0 };
}

impl Refusal {
    fn of(error: &Error) -> Option<Self> {
        match code(error)? {
            401 => Some(Self::SignedOut),
            403 => Some(Self::Forbidden),
            404 => Some(Self::NoSuchKind),
            _ => None,
        }
    }
}

fn code(error: &Error) -> Option<u16> {
    match error {
        Error::InitialListFailed(kube::Error::Api(status))
        | Error::WatchStartFailed(kube::Error::Api(status))
        | Error::WatchFailed(kube::Error::Api(status))
        | Error::WatchError(status) => Some(status.code),
        _ => None,
    }
}

/// Watches until all receivers have gone.
pub(crate) async fn run(watched: Watched, seen: Sender<WatchState>) {
    let config = Config::default().timeout(LONGEST);
    let config = watched.kind.selector.into_iter().fold(config, Config::labels);
    tokio::select! {
        () = seen.closed() => {}
        () = follow(&watched, &config, &seen) => {}
    }
}

impl Watched {
    /// The objects of the kind where they are watched; nothing where the API server does not say which one that is.
    async fn api(&self) -> Option<Api<MetadataOnly>> {
        let (client, resource) = (self.cluster.client.clone(), self.kind.resource());
        let namespace = match (self.kind.place, &self.global) {
            (WatchScope::Everywhere, _) => return Some(Api::all_with(client, &resource)),
            (WatchScope::Home, _) => self.namespace.clone(),
            (WatchScope::Global, Some(global)) => global.clone(),
            (WatchScope::Global, None) => self.cluster.settings(None).await.ok()?.global_namespace,
        };
        Some(Api::namespaced_with(client, &namespace, &resource))
    }
}

/// Begins again after each loss, with pauses that grow to half a minute.
async fn follow(watched: &Watched, config: &Config, seen: &Sender<WatchState>) {
    let mut pauses = DefaultBackoff::default();
    loop {
        // What is needed once would be a part of the task for as long as the watch lasts.
        let error = match Box::pin(watched.api()).await {
            Some(api) => pass(&api, config, seen).await,
            None => None,
        };
        if let Some(refusal) = error.and_then(|error| Refusal::of(&error)) {
            seen.send_modify(|seen| seen.condition = Condition::Refused(refusal));
            // Those who look at it are still there.
            return seen.closed().await;
        }
        seen.send_modify(|seen| seen.condition = lost(seen.condition, Timestamp::now()));
        sleep(pauses.next().unwrap_or(LONGEST_PAUSE)).await;
    }
}

/// Follows until something goes wrong. What is found anew after that is a whole list, as a watch that goes on in
/// silence would not show that it is there again.
async fn pass(
    api: &Api<MetadataOnly>,
    config: &Config,
    seen: &Sender<WatchState>,
) -> Option<Error> {
    let mut objects = Objects::default();
    let mut is_listed = false;
    let mut events = pin!(watcher(api.clone(), config.clone()));
    loop {
        let event = match is_listed {
            true => events.next().await,
            false => timeout(LISTING, events.next()).await.ok().flatten(),
        };
        match event? {
            Ok(event) => {
                if objects.take(event) {
                    is_listed = true;
                    let digest = objects.digest();
                    seen.send_replace(WatchState { condition: Condition::Following, digest });
                }
            }
            Err(error) => return Some(error),
        }
    }
}

/// A watch that is lost for longer was followed until the first loss.
fn lost(before: Condition, now: Timestamp) -> Condition {
    match before {
        Condition::Following => Condition::Lost(Some(now)),
        Condition::Lost(since) => Condition::Lost(since),
        Condition::Beginning | Condition::Refused(_) => Condition::Lost(None),
    }
}

/// The objects of a watch and their versions, each as a number.
#[derive(Default)]
struct Objects {
    known: HashMap<u64, u64>,
    /// Those of a list that is not complete.
    listed: HashMap<u64, u64>,
}

impl Objects {
    /// Takes note of an event; true when what is known is complete.
    fn take(&mut self, event: Event<MetadataOnly>) -> bool {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => self.listed.extend([numbers(&object)]),
            Event::InitDone => {
                self.known = std::mem::take(&mut self.listed);
                return true;
            }
            Event::Apply(object) => {
                self.known.extend([numbers(&object)]);
                return true;
            }
            Event::Delete(object) => {
                self.known.remove(&numbers(&object).0);
                return true;
            }
        }
        false
    }

    /// The same for the same objects in the same versions, in whichever order they came.
    fn digest(&self) -> u64 {
        self.known.values().fold(0, |sum, version| sum.wrapping_add(*version))
    }
}

/// What stands for an object, and for an object in its version.
fn numbers(object: &MetadataOnly) -> (u64, u64) {
    let mut hasher = DefaultHasher::new();
    object.metadata.uid.hash(&mut hasher);
    object.metadata.name.hash(&mut hasher);
    let uid = hasher.finish();
    object.metadata.resource_version.hash(&mut hasher);
    (uid, hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use kube::Client;
    use kube::core::Status;
    use rstest::rstest;
    use serde_json::{from_value, json};
    use tokio::sync::watch::Receiver;

    use super::*;

    fn object(name: &str, version: &str) -> MetadataOnly {
        from_value(json!({"metadata": {"name": name, "uid": name, "resourceVersion": version}}))
            .unwrap()
    }

    fn digest(objects: &mut Objects, events: Vec<Event<MetadataOnly>>) -> u64 {
        let complete: Vec<bool> = events.into_iter().map(|event| objects.take(event)).collect();
        assert_eq!(complete.last(), Some(&true));
        objects.digest()
    }

    #[test]
    fn a_digest_is_that_of_what_is_there() {
        let mut objects = Objects::default();
        let list = || {
            let [a, b] = ["a", "b"].map(|name| Event::InitApply(object(name, "1")));
            vec![Event::Init, a, b, Event::InitDone]
        };
        let first = digest(&mut objects, list());
        let changed = digest(&mut objects, vec![Event::Apply(object("a", "2"))]);
        let more = digest(&mut objects, vec![Event::Apply(object("c", "3"))]);
        assert_eq!(digest(&mut objects, vec![Event::Delete(object("c", "4"))]), changed);
        assert!(first != changed && changed != more, "{first} {changed} {more}");
        assert_eq!(digest(&mut objects, list()), first, "the same after a list");
        let other = vec![
            Event::Init,
            Event::InitApply(object("b", "1")),
            Event::InitApply(object("a", "1")),
            Event::InitDone,
        ];
        assert_eq!(digest(&mut Objects::default(), other), first, "in another order");
    }

    #[test]
    fn a_list_counts_when_it_is_complete() {
        let mut objects = Objects::default();
        assert!(!objects.take(Event::Init));
        assert!(!objects.take(Event::InitApply(object("a", "1"))));
        assert_eq!(objects.digest(), 0);
        assert!(objects.take(Event::InitDone));
        assert_ne!(objects.digest(), 0);
    }

    #[rstest]
    #[case(401, Some(Refusal::SignedOut))]
    #[case(403, Some(Refusal::Forbidden))]
    #[case(404, Some(Refusal::NoSuchKind))]
    #[case(410, None)]
    #[case(429, None)]
    #[case(500, None)]
    fn what_is_refused_is_not_asked_again(#[case] code: u16, #[case] expected: Option<Refusal>) {
        let status = || Status { code, ..Status::default() }.boxed();
        let error = Error::InitialListFailed(kube::Error::Api(status()));
        assert_eq!(Refusal::of(&error), expected);
        assert_eq!(Refusal::of(&Error::WatchError(status())), expected);
    }

    /// An API server whose answers these are, one after the other; then it is silent.
    fn watched(answers: Vec<(u16, serde_json::Value)>) -> (Watched, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let service = tower::service_fn(move |_: http::Request<kube::client::Body>| {
            let answer = answers.get(count.fetch_add(1, Ordering::SeqCst)).cloned();
            async move {
                let Some((code, body)) = answer else { return std::future::pending().await };
                let body = axum::body::Body::from(body.to_string());
                let answer = http::Response::builder().status(code).body(body).unwrap();
                Ok::<_, std::io::Error>(answer)
            }
        });
        let (identity, _) = crate::session::Identity::for_tests();
        let cluster = Cluster { client: Client::new(service, "ns"), ..identity.cluster };
        let kind = super::super::kinds::of(crate::pages::Page::Plan)[0];
        (Watched { cluster, kind, namespace: "ns".to_owned(), global: None }, asked)
    }

    fn refusal(code: u16) -> (u16, serde_json::Value) {
        (
            code,
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "no", "reason": "No", "code": code}),
        )
    }

    async fn condition(seen: &mut Receiver<WatchState>) -> Condition {
        seen.changed().await.unwrap();
        seen.borrow_and_update().condition
    }

    #[tokio::test]
    async fn what_is_forbidden_is_asked_for_once() {
        let (watched, asked) = watched(vec![refusal(403)]);
        let (sender, mut seen) = tokio::sync::watch::channel(WatchState::BEGIN);
        let watched = tokio::spawn(run(watched, sender));
        assert_eq!(condition(&mut seen).await, Condition::Refused(Refusal::Forbidden));
        assert!(!watched.is_finished(), "it is there for those who look at it");
        drop(seen);
        watched.await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    fn list() -> (u16, serde_json::Value) {
        let object = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "4"}});
        let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
            "metadata": {"resourceVersion": "5"}, "items": [object]});
        (200, list)
    }

    #[tokio::test]
    async fn what_is_lost_comes_back() {
        let (watched, _) = watched(vec![refusal(500), list()]);
        let (sender, mut seen) = tokio::sync::watch::channel(WatchState::BEGIN);
        let watched = tokio::spawn(run(watched, sender));
        assert_eq!(condition(&mut seen).await, Condition::Lost(None));
        assert_eq!(condition(&mut seen).await, Condition::Following);
        assert_ne!(seen.borrow().digest, 0);
        drop(seen);
        watched.await.unwrap();
    }

    /// Two lists and two watches: of a watch that is there, nothing is asked again.
    #[tokio::test(start_paused = true)]
    async fn a_loss_says_since_when_and_nothing_polls_after_it() {
        let (watched, asked) = watched(vec![list(), refusal(500), list()]);
        let (sender, mut seen) = tokio::sync::watch::channel(WatchState::BEGIN);
        let watched = tokio::spawn(run(watched, sender));
        let is_lost = |seen: &WatchState| matches!(seen.condition, Condition::Lost(Some(_)));
        assert!(seen.wait_for(is_lost).await.is_ok());
        let is_followed = |seen: &WatchState| seen.condition == Condition::Following;
        assert!(seen.wait_for(is_followed).await.is_ok());
        tokio::time::advance(LONGEST_PAUSE * 100).await;
        tokio::task::yield_now().await;
        assert_eq!(asked.load(Ordering::SeqCst), 4);
        drop(seen);
        watched.await.unwrap();
    }

    #[test]
    fn it_was_followed_until_the_first_loss() {
        let [first, second] = [1, 2].map(|second| Timestamp::from_second(second).unwrap());
        let once = lost(Condition::Following, first);
        assert_eq!(once, Condition::Lost(Some(first)));
        assert_eq!(lost(once, second), once);
        assert_eq!(lost(Condition::Beginning, second), Condition::Lost(None));
    }
}
