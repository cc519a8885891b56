//! Pulls in the background, and how they ended.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use kube::ResourceExt;
use olm_catalog::bundle::config_map::BundleFolder;
use olm_catalog::bundle::unpack;
use olm_catalog::image::{ImageError, ImageReference, Keychain, Limits, Registry, pull};
use olm_kit::tasks::{Panicked, concluded};
use olm_lifecycle::unpack::{AttemptState, Pauses};
use olm_types::api::CatalogSource;
use tokio::time::Instant;

use crate::slots::{SlotLimits, Slots};

/// Pulls at a time: each may need as much memory as an image may hold.
const AT_ONCE: SlotLimits = SlotLimits { each: 1, all: 3, global: 2 };

/// Longest pull, whatever an OperatorGroup allows: others wait for the slot.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// How long what was pulled counts as new, where an image has no digest: as long as a Job that is
/// done stays.
const FRESH: Duration = Duration::from_secs(300);

/// How long a failure is remembered that was not asked for again; at least, and twice its pause.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// Namespace of the CatalogSource, and reference of the image.
type Key = (String, String);

/// The pulls of this process. Clones share them.
#[derive(Clone)]
pub struct Pulls {
    registry: Registry,
    slots: Slots,
    attempts: Arc<DashMap<Key, Attempt>>,
    ended: Arc<dyn Fn() + Send + Sync>,
}

/// Why an image was not unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One word.
    pub reason: &'static str,
    /// For people.
    pub message: String,
}

/// Where an image stands.
pub(super) enum State {
    /// It is time to pull it.
    Idle,
    /// It is being pulled.
    Pulling,
    /// This is in it.
    Pulled(Arc<BundleFolder>),
    /// It could not be pulled; that is tried again after this time.
    Failed(Failure, Duration),
}

struct Attempt {
    failures: u32,
    result: Option<(Instant, Result<Arc<BundleFolder>, Failure>)>,
    /// When it is forgotten, unless it is asked for again.
    until: Instant,
}

impl Pulls {
    /// No pulls yet; `ended` is called after each, and must be quick. Pulls for catalogs in
    /// `global_namespace` do not wait for those of others.
    pub fn new(
        registry: Registry,
        global_namespace: &str,
        ended: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            registry,
            slots: Slots::new(global_namespace, AT_ONCE),
            attempts: Arc::default(),
            ended: Arc::new(ended),
        }
    }

    /// Whether the image is being pulled.
    pub(super) fn attempt(&self, catalog: &CatalogSource, image: &str) -> AttemptState {
        match self.attempts.get(&key(catalog, image)) {
            None => AttemptState::None,
            Some(attempt) if attempt.result.is_none() => AttemptState::UnderWay,
            Some(_) => AttemptState::Ended,
        }
    }

    /// Where the image stands.
    pub(super) fn state(&self, catalog: &CatalogSource, image: &str, pauses: Pauses) -> State {
        let Some(mut attempt) = self.attempts.get_mut(&key(catalog, image)) else {
            return State::Idle;
        };
        attempt.remember(pauses);
        match &attempt.result {
            None => State::Pulling,
            Some((_, Ok(_))) if attempt.is_stale() => State::Idle,
            Some((_, Ok(folder))) => State::Pulled(Arc::clone(folder)),
            Some((at, Err(failure))) => {
                let rest = pauses.after(attempt.failures).saturating_sub(at.elapsed());
                if rest.is_zero() { State::Idle } else { State::Failed(failure.clone(), rest) }
            }
        }
    }

    /// Pulls the image in the background, in this time if there is one.
    pub(super) fn start(
        &self,
        catalog: &CatalogSource,
        image: &str,
        keychain: Keychain,
        timeout: Option<Duration>,
    ) {
        let key = key(catalog, image);
        let failures = self.attempts.get(&key).map_or(0, |attempt| attempt.failures);
        self.attempts.retain(|_, attempt| !attempt.is_stale());
        self.attempts.insert(key.clone(), Attempt::new(failures));
        let (me, (namespace, image)) = (self.clone(), key.clone());
        self.run(key, async move { me.pull(&namespace, &image, &keychain, timeout).await });
    }

    /// Works in the background; a panic is how it ended, too.
    fn run(
        &self,
        key: Key,
        work: impl Future<Output = Result<BundleFolder, Failure>> + Send + 'static,
    ) {
        let me = self.clone();
        concluded(work, move |ended| {
            let result = ended.unwrap_or_else(|panicked| Err(Failure::panicked(&key.1, &panicked)));
            me.note(key, result);
            (me.ended)();
        });
    }

    /// What was pulled is of no use; says when that is tried again.
    pub(super) fn fail(
        &self,
        catalog: &CatalogSource,
        image: &str,
        failure: Failure,
        pauses: Pauses,
    ) -> Duration {
        let key = key(catalog, image);
        self.note(key.clone(), Err(failure));
        self.attempts.get(&key).map_or(Duration::ZERO, |attempt| pauses.after(attempt.failures))
    }

    /// The time runs from when the pull has its slot.
    async fn pull(
        &self,
        namespace: &str,
        image: &str,
        keychain: &Keychain,
        timeout: Option<Duration>,
    ) -> Result<BundleFolder, Failure> {
        let reference: ImageReference =
            image.parse().map_err(|error| Failure::bundle(format!("{error}")))?;
        let _slot = self.slots.wait(namespace).await;
        let timeout = timeout.unwrap_or(LONGEST).min(LONGEST);
        let limits = Limits::default();
        let pulled = pull(&self.registry, &reference, keychain, &limits);
        let pulled = tokio::time::timeout(timeout, pulled).await;
        let pulled = pulled.map_err(|_| Failure::late(image, timeout))?;
        let tree = pulled.map_err(|error| Failure::image(&error))?;
        unpack(&tree).map_err(|error| Failure::bundle(error.to_string()))
    }

    fn note(&self, key: Key, result: Result<BundleFolder, Failure>) {
        if let Err(Failure { reason, message }) = &result {
            tracing::warn!(image = key.1, reason, message, "bundle could not be unpacked");
        }
        let mut attempt = self.attempts.entry(key).or_insert(Attempt::new(0));
        attempt.failures = if result.is_ok() { 0 } else { attempt.failures.saturating_add(1) };
        attempt.result = Some((Instant::now(), result.map(Arc::new)));
    }
}

impl Attempt {
    fn new(failures: u32) -> Self {
        Self { failures, result: None, until: Instant::now() + REMEMBERED }
    }

    fn remember(&mut self, pauses: Pauses) {
        let pause = pauses.after(self.failures).saturating_mul(2).max(REMEMBERED);
        // An OperatorGroup may ask for a pause that no clock can hold.
        self.until = Instant::now().checked_add(pause).unwrap_or(self.until);
    }

    fn is_stale(&self) -> bool {
        match &self.result {
            None => false,
            Some((at, Ok(_))) => at.elapsed() >= FRESH,
            Some((_, Err(_))) => self.until <= Instant::now(),
        }
    }
}

impl Failure {
    /// The image is unavailable.
    fn image(error: &ImageError) -> Self {
        Self { reason: error.reason(), message: error.to_string() }
    }

    /// What is in the image is no bundle that can be used.
    pub(super) fn bundle(message: String) -> Self {
        Self { reason: "BundleInvalid", message }
    }

    /// An error of this program; as the API server calls its own.
    fn panicked(image: &str, panicked: &Panicked) -> Self {
        Self { reason: "InternalError", message: format!("unpacking {image} {panicked}") }
    }

    /// It took too long; as a Job would say it.
    fn late(image: &str, timeout: Duration) -> Self {
        let message = format!("{image} was not unpacked within {} s", timeout.as_secs());
        Self { reason: "DeadlineExceeded", message }
    }
}

fn key(catalog: &CatalogSource, image: &str) -> Key {
    (catalog.namespace().unwrap_or_default(), image.to_owned())
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    /// No server listens there.
    const NOWHERE: &str = "127.0.0.1:1/a/b:v1";

    fn pulls() -> (Pulls, mpsc::UnboundedReceiver<()>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let ended = move || sender.send(()).unwrap();
        (Pulls::new(Registry::new([]).unwrap(), "olm", ended), receiver)
    }

    fn catalog() -> CatalogSource {
        let object = serde_json::json!({"metadata": {"name": "c", "namespace": "ns"}});
        serde_json::from_value(object).unwrap()
    }

    fn failed(pulls: &Pulls, image: &str) -> (Failure, Duration) {
        match pulls.state(&catalog(), image, Pauses::default()) {
            State::Failed(failure, rest) => (failure, rest),
            _ => panic!("it did not fail"),
        }
    }

    #[tokio::test]
    async fn a_failure_is_reported_and_tried_again_after_pauses_that_grow() {
        let (pulls, mut ended) = pulls();
        assert!(matches!(pulls.state(&catalog(), NOWHERE, Pauses::default()), State::Idle));
        for seconds in [5, 10] {
            pulls.start(&catalog(), NOWHERE, Keychain::default(), None);
            ended.recv().await.unwrap();
            let (failure, rest) = failed(&pulls, NOWHERE);
            assert_eq!(failure.reason, "RegistryUnavailable");
            assert!(rest <= Duration::from_secs(seconds), "{rest:?}");
            assert!(rest > Duration::from_secs(seconds - 4), "{rest:?}");
        }
        let pauses = Pauses { interval: Some(Duration::ZERO) };
        assert!(matches!(pulls.state(&catalog(), NOWHERE, pauses), State::Idle));
    }

    #[tokio::test]
    async fn a_panic_is_said_and_frees_the_image_and_its_slot() {
        let (pulls, mut ended) = pulls();
        let key = key(&catalog(), NOWHERE);
        for _ in 0..=AT_ONCE.all {
            pulls.attempts.insert(key.clone(), Attempt::new(0));
            let slots = pulls.slots.clone();
            pulls.run(key.clone(), async move {
                let _slot = slots.wait("ns").await;
                panic!("injected")
            });
            ended.recv().await.unwrap();
            let (failure, rest) = failed(&pulls, NOWHERE);
            let message = format!("unpacking {NOWHERE} panicked: injected");
            assert_eq!(failure, Failure { reason: "InternalError", message });
            assert!(!rest.is_zero());
        }
        pulls.start(&catalog(), NOWHERE, Keychain::default(), None);
        ended.recv().await.unwrap();
        assert_eq!(failed(&pulls, NOWHERE).0.reason, "RegistryUnavailable");
    }

    #[tokio::test]
    async fn what_takes_too_long_or_names_no_image_is_reported() {
        let (pulls, mut ended) = pulls();
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let late = format!("{}/a/b:v1", silent.local_addr().unwrap());
        let soon = Some(Duration::from_millis(100));
        for (image, reason) in [(late.as_str(), "DeadlineExceeded"), ("A b", "BundleInvalid")] {
            pulls.start(&catalog(), image, Keychain::default(), soon);
            ended.recv().await.unwrap();
            assert_eq!(failed(&pulls, image).0.reason, reason);
        }
    }

    /// Images of one namespace are pulled one after the other, so the second one has to wait.
    #[tokio::test]
    async fn the_time_of_a_pull_begins_with_its_slot() {
        let (pulls, mut ended) = pulls();
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = silent.local_addr().unwrap();
        let images = ["a", "b"].map(|name| format!("{address}/a/{name}:v1"));
        let start = Instant::now();
        for image in &images {
            let soon = Some(Duration::from_millis(300));
            pulls.start(&catalog(), image, Keychain::default(), soon);
        }
        for _ in &images {
            ended.recv().await.unwrap();
        }
        assert!(start.elapsed() >= Duration::from_millis(600), "{:?}", start.elapsed());
        let reasons = images.map(|image| failed(&pulls, &image).0.reason);
        assert_eq!(reasons, ["DeadlineExceeded"; 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_forgotten_when_they_are_not_asked_for() {
        let (pulls, _) = pulls();
        pulls.fail(&catalog(), NOWHERE, Failure::bundle(String::new()), Pauses::default());
        tokio::time::advance(REMEMBERED / 2).await;
        assert!(matches!(pulls.state(&catalog(), NOWHERE, Pauses::default()), State::Idle));
        tokio::time::advance(REMEMBERED / 2).await;
        pulls.attempts.retain(|_, attempt| !attempt.is_stale());
        assert_eq!(pulls.attempts.len(), 1, "it was asked for meanwhile");
        tokio::time::advance(REMEMBERED).await;
        pulls.attempts.retain(|_, attempt| !attempt.is_stale());
        assert!(pulls.attempts.is_empty());
    }
}
