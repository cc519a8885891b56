//! Pulls in the background, and how they ended.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use kube::ResourceExt;
use olm_catalog::bundle::config_map::BundleFolder;
use olm_catalog::bundle::unpack;
use olm_catalog::image::{ImageError, ImageReference, Keychain, Limits, Registry, pull};
use olm_lifecycle::unpack::Pauses;
use olm_types::api::CatalogSource;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Pulls at a time: each may need as much memory as an image may hold.
const AT_ONCE: usize = 2;

/// How long what was pulled counts as new, where an image has no digest: as long as a Job that is
/// done stays.
const FRESH: Duration = Duration::from_secs(300);

/// Namespace of the CatalogSource, and reference of the image.
type Key = (String, String);

/// The pulls of this process. Clones share them.
#[derive(Clone)]
pub struct Pulls {
    registry: Registry,
    running: Arc<Semaphore>,
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
    /// It could not be had; that is tried again after this time.
    Failed(Failure, Duration),
}

struct Attempt {
    failures: u32,
    result: Option<(Instant, Result<Arc<BundleFolder>, Failure>)>,
}

impl Pulls {
    /// No pulls yet; `ended` is called after each, and must be quick.
    pub fn new(registry: Registry, ended: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            registry,
            running: Arc::new(Semaphore::new(AT_ONCE)),
            attempts: Arc::default(),
            ended: Arc::new(ended),
        }
    }

    /// Where the image stands.
    pub(super) fn state(&self, catalog: &CatalogSource, image: &str, pauses: Pauses) -> State {
        let Some(attempt) = self.attempts.get(&key(catalog, image)) else { return State::Idle };
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
        self.attempts.insert(key.clone(), Attempt { failures, result: None });
        let me = self.clone();
        tokio::spawn(async move {
            let result = me.pull(&key.1, &keychain, timeout).await;
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

    async fn pull(
        &self,
        image: &str,
        keychain: &Keychain,
        timeout: Option<Duration>,
    ) -> Result<BundleFolder, Failure> {
        let pulled = async {
            let turn = self.running.acquire().await;
            let reference: ImageReference =
                image.parse().map_err(|error| Failure::bundle(format!("{error}")))?;
            let pulled = pull(&self.registry, &reference, keychain, &Limits::default()).await;
            drop(turn);
            let tree = pulled.map_err(|error| Failure::image(&error))?;
            unpack(&tree).map_err(|error| Failure::bundle(error.to_string()))
        };
        match timeout {
            None => pulled.await,
            Some(timeout) => {
                let late = |_| Failure::late(image, timeout);
                tokio::time::timeout(timeout, pulled).await.map_err(late)?
            }
        }
    }

    fn note(&self, key: Key, result: Result<BundleFolder, Failure>) {
        if let Err(Failure { reason, message }) = &result {
            tracing::warn!(image = key.1, reason, message, "bundle could not be unpacked");
        }
        let mut attempt = self.attempts.entry(key).or_insert(Attempt { failures: 0, result: None });
        attempt.failures = if result.is_ok() { 0 } else { attempt.failures.saturating_add(1) };
        attempt.result = Some((Instant::now(), result.map(Arc::new)));
    }
}

impl Attempt {
    fn is_stale(&self) -> bool {
        self.result.as_ref().is_some_and(|(at, result)| result.is_ok() && at.elapsed() >= FRESH)
    }
}

impl Failure {
    /// The image cannot be had.
    fn image(error: &ImageError) -> Self {
        Self { reason: error.reason(), message: error.to_string() }
    }

    /// What is in the image is no bundle that can be used.
    pub(super) fn bundle(message: String) -> Self {
        Self { reason: "BundleInvalid", message }
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

    /// Nobody listens there.
    const NOWHERE: &str = "127.0.0.1:1/a/b:v1";

    fn pulls() -> (Pulls, mpsc::UnboundedReceiver<()>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let ended = move || sender.send(()).unwrap();
        (Pulls::new(Registry::new([]).unwrap(), ended), receiver)
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
    async fn a_failure_is_told_and_tried_again_after_pauses_that_grow() {
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
    async fn what_takes_too_long_or_names_no_image_is_told() {
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
}
