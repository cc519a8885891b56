//! Connected catalogs, with a connection that the test steers.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use olm_catalog::connection::{ConnectionState, ConnectionStatus, LoadError, RpcError};
use olm_catalog::snapshot::{SnapshotBuilder, SnapshotLimits};
use olm_types::bundle::{BundleContent, Deprecations};
use tokio::sync::{mpsc, watch};

use super::*;

/// How long the bundle `slow` takes.
const CALL: Duration = Duration::from_secs(29);
/// A load with this result panics.
const BROKEN: LoadError = LoadError::Deadline(Duration::ZERO);

/// A catalog whose server does what the test says.
struct ScriptedCatalog {
    key: CatalogKey,
    status: watch::Sender<ConnectionStatus>,
    loads: Mutex<VecDeque<Result<(), LoadError>>>,
}

#[async_trait]
impl CatalogConnection for ScriptedCatalog {
    fn key(&self) -> &CatalogKey {
        &self.key
    }

    fn status(&self) -> watch::Receiver<ConnectionStatus> {
        self.status.subscribe()
    }

    async fn load(&self) -> Result<CatalogSnapshot, LoadError> {
        let next = self.loads.lock().unwrap().pop_front();
        let Some(result) = next else { std::future::pending().await };
        assert_ne!(result, Err(BROKEN), "injected");
        result.map(|()| SnapshotBuilder::new(self.key.clone(), SnapshotLimits::default()).finish())
    }

    async fn bundle(&self, _: &str, _: &str, name: &str) -> Result<BundleManifests, RpcError> {
        if name == "slow" {
            tokio::time::sleep(CALL).await;
        }
        let csv_json = if name == "large" { "a".repeat(10 << 20) } else { String::new() };
        Ok(BundleManifests { name: name.to_owned(), csv_json, ..BundleManifests::default() })
    }
}

/// One catalog, connected, with the changes that are reported.
struct Bench {
    catalogs: Catalogs,
    steered: Arc<ScriptedCatalog>,
    changes: mpsc::UnboundedReceiver<CatalogChange>,
}

fn key() -> CatalogKey {
    CatalogKey::new("olm", "community")
}

fn bench(loads: Vec<Result<(), LoadError>>) -> Bench {
    bench_with(loads, UnhealthyCatalogs::LastGood)
}

fn bench_with(loads: Vec<Result<(), LoadError>>, unhealthy: UnhealthyCatalogs) -> Bench {
    let steered = Arc::new(ScriptedCatalog {
        key: key(),
        status: watch::Sender::new(ConnectionStatus::default()),
        loads: Mutex::new(loads.into()),
    });
    let (sender, changes) = mpsc::unbounded_channel();
    let connection = Arc::clone(&steered);
    let catalogs = Catalogs::with_connect(
        move |_, change| sender.send(change).unwrap_or_default(),
        move |_, _| Ok(Arc::clone(&connection) as Arc<dyn CatalogConnection>),
    )
    .unhealthy(unhealthy);
    catalogs.connect(&key(), "there:50051").unwrap();
    Bench { catalogs, steered, changes }
}

impl Bench {
    fn become_state(&self, state: ConnectionState, generation: u64) {
        let reason = (state == ConnectionState::TransientFailure).then(|| "refused".into());
        self.steered.status.send_replace(ConnectionStatus { state, generation, reason });
    }

    async fn until(&mut self, change: CatalogChange) {
        while self.changes.recv().await.unwrap() != change {}
    }

    fn content(&self) -> String {
        match self.catalogs.content(&key()) {
            Content::Waiting => "waiting".to_owned(),
            Content::Loaded(_) => "loaded".to_owned(),
            Content::Unavailable(reason) => reason,
        }
    }
}

#[tokio::test]
async fn a_ready_catalog_is_loaded_and_reported() {
    let mut bench = bench(vec![Ok(())]);
    assert_eq!(bench.content(), "waiting");
    bench.become_state(ConnectionState::Ready, 1);
    bench.until(CatalogChange::Loaded).await;
    assert_eq!(bench.content(), "loaded");
    assert_eq!(bench.catalogs.connection(&key()).unwrap().state, "READY");
}

#[tokio::test]
async fn an_unreachable_catalog_says_why() {
    let mut bench = bench(vec![]);
    bench.become_state(ConnectionState::TransientFailure, 0);
    bench.until(CatalogChange::Lost).await;
    assert_eq!(
        bench.content(),
        "failed to list bundles: rpc error: code = Unavailable desc = refused"
    );
}

#[tokio::test]
async fn a_snapshot_stays_while_its_catalog_is_away_and_is_renewed_after() {
    let mut bench = bench(vec![Ok(()), Ok(())]);
    bench.become_state(ConnectionState::Ready, 1);
    bench.until(CatalogChange::Loaded).await;
    bench.become_state(ConnectionState::TransientFailure, 1);
    bench.until(CatalogChange::State).await;
    assert_eq!(bench.content(), "loaded");
    bench.become_state(ConnectionState::Ready, 2);
    bench.until(CatalogChange::Unchanged).await;
    assert_eq!(bench.content(), "loaded");
    assert!(bench.steered.loads.lock().unwrap().is_empty());
}

#[tokio::test]
async fn who_waited_for_a_snapshot_is_notified_even_when_it_is_the_same() {
    let mut bench = bench(vec![Ok(())]);
    bench.become_state(ConnectionState::Ready, 1);
    bench.until(CatalogChange::Loaded).await;
    bench.become_state(ConnectionState::Ready, 2);
    bench.until(CatalogChange::State).await;
    while bench.content() != "waiting" {
        tokio::task::yield_now().await;
    }
    bench.become_state(ConnectionState::TransientFailure, 2);
    bench.until(CatalogChange::Lost).await;
    assert_eq!(bench.content(), "loaded");
}

#[tokio::test]
async fn a_catalog_that_is_away_blocks_where_that_is_wanted() {
    let mut bench = bench_with(vec![Ok(()), Ok(())], UnhealthyCatalogs::Block);
    bench.become_state(ConnectionState::Ready, 1);
    bench.until(CatalogChange::Loaded).await;
    bench.become_state(ConnectionState::TransientFailure, 1);
    bench.until(CatalogChange::Lost).await;
    let reason = "failed to list bundles: rpc error: code = Unavailable desc = refused";
    assert_eq!(bench.content(), reason);
    assert!(bench.catalogs.facts(&key()).blocks);
    bench.become_state(ConnectionState::Ready, 2);
    bench.until(CatalogChange::Loaded).await;
    assert_eq!(bench.content(), "loaded");
}

#[tokio::test(start_paused = true)]
async fn a_catalog_that_never_ends_is_not_waited_for() {
    let mut bench = bench(vec![]);
    bench.become_state(ConnectionState::Ready, 1);
    bench.until(CatalogChange::Lost).await;
    assert_eq!(bench.content(), "it is still being read");
}

#[tokio::test(start_paused = true)]
async fn the_last_good_snapshot_stays_when_the_next_is_refused() {
    let mut bench = bench(vec![Ok(()), Err(LoadError::Deadline(Duration::from_secs(60)))]);
    bench.become_state(ConnectionState::Ready, 1);
    bench.until(CatalogChange::Loaded).await;
    bench.become_state(ConnectionState::Ready, 2);
    bench.until(CatalogChange::Lost).await;
    assert_eq!(bench.content(), "loaded");
    let facts = bench.catalogs.facts(&key());
    assert!(facts.read_at.is_some());
    let problem = "the catalog was not listed completely within 60 s";
    assert_eq!(facts.problem.as_deref(), Some(problem));
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_fails_is_tried_again() {
    let mut bench = bench(vec![Err(LoadError::Deadline(Duration::from_secs(60))), Ok(())]);
    bench.become_state(ConnectionState::Ready, 1);
    bench.until(CatalogChange::Lost).await;
    assert_eq!(bench.content(), "the catalog was not listed completely within 60 s");
    bench.until(CatalogChange::Loaded).await;
    assert_eq!(bench.content(), "loaded");
}

#[tokio::test(start_paused = true)]
async fn a_catalog_whose_reading_panics_says_so_and_is_read_again_after_pauses_that_grow() {
    let mut bench = bench(vec![Err(BROKEN), Err(BROKEN), Ok(()), Err(BROKEN), Ok(())]);
    let begun = Instant::now();
    bench.become_state(ConnectionState::Ready, 1);
    for _ in 0..2 {
        bench.until(CatalogChange::Lost).await;
        let problem = bench.content();
        assert!(problem.starts_with("reading it panicked: "), "{problem}");
        assert!(problem.contains("injected"), "{problem}");
        assert_eq!(bench.catalogs.facts(&key()).problem, Some(problem));
    }
    bench.until(CatalogChange::Loaded).await;
    assert_eq!(begun.elapsed().as_secs(), 1 + 2, "pauses");
    assert_eq!((bench.content().as_str(), bench.catalogs.facts(&key()).problem), ("loaded", None));
    bench.become_state(ConnectionState::Ready, 2);
    bench.until(CatalogChange::Lost).await;
    assert_eq!(bench.content(), "loaded", "what was read before stays");
    bench.until(CatalogChange::Loaded).await;
    assert_eq!(bench.catalogs.facts(&key()).problem, None);
}

#[tokio::test]
async fn a_catalog_that_was_not_looked_at_yet_may_still_get_a_connection() {
    let bench = bench(vec![]);
    bench.catalogs.forget(&key());
    assert_eq!(bench.content(), "waiting");
}

#[tokio::test]
async fn a_catalog_without_connection_has_no_content() {
    let mut bench = bench(vec![]);
    bench.catalogs.disconnect(&key());
    bench.until(CatalogChange::Lost).await;
    assert_eq!(bench.content(), "no registry client established for catalogsource olm/community");
    assert_eq!(bench.catalogs.connection(&key()), None);
    assert!(bench.catalogs.bundle(&key(), "p", "c", "b").await.is_err());
}

#[tokio::test]
async fn a_bundle_is_fetched_through_the_connection() {
    let bench = bench(vec![]);
    assert_eq!(bench.catalogs.bundle(&key(), "p", "c", "b.v1").await.unwrap().name, "b.v1");
}

#[tokio::test]
async fn an_address_must_have_a_port() {
    let catalogs = Catalogs::new(ClientOptions::default(), |_, _| {});
    assert!(catalogs.connect(&key(), "nowhere").is_err());
    assert_eq!(catalogs.connection(&key()), None);
}

fn entry(name: &str) -> Arc<Entry> {
    Arc::new(Entry {
        name: name.into(),
        package: "p".into(),
        channel: "c".into(),
        catalog: key(),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: [].into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    })
}

#[tokio::test(start_paused = true)]
async fn bundles_of_one_plan_share_one_deadline() {
    let bench = bench(vec![]);
    let names = |bundles: Result<Vec<BundleManifests>, String>| {
        bundles.map(|bundles| bundles.into_iter().map(|bundle| bundle.name).collect::<Vec<_>>())
    };
    let few = vec![entry("slow"), entry("b.v1"), entry("a.v1")];
    let few = names(bench.catalogs.bundles(few).await);
    assert_eq!(few.unwrap(), ["slow", "b.v1", "a.v1"]);
    let start = Instant::now();
    let many = bench.catalogs.bundles(vec![entry("slow"); 1_000]).await.unwrap_err();
    assert!(start.elapsed() >= BUNDLES && start.elapsed() < BUNDLES + CALL);
    let expected = "error using catalogsource olm/community: bundle slow: its server is too slow: ";
    assert!(many.starts_with(expected), "{many}");
}

/// Each of them may be as large as a message; a plan takes a fraction of that.
#[tokio::test(start_paused = true)]
async fn bundles_of_one_plan_have_bounds_together() {
    let bench = bench(vec![]);
    let fetch = async |count| bench.catalogs.bundles(vec![entry("large"); count]).await;
    assert_eq!(fetch(3).await.map(|bundles| bundles.len()), Ok(3));
    let refused = fetch(4).await.unwrap_err();
    let expected = "the bundles of the plan, as of large, have more than 33554432 bytes together";
    assert!(refused.starts_with(expected), "{refused}");
}

/// Catalogs that never end take the slots of their namespace, and of no other.
#[tokio::test(start_paused = true)]
async fn silent_catalogs_hold_up_their_namespace_alone() {
    let (sender, mut changes) = mpsc::unbounded_channel();
    let listener = move |key: &CatalogKey, change| {
        if change == CatalogChange::Loaded {
            sender.send(key.to_string()).unwrap_or_default();
        }
    };
    let catalogs = Catalogs::with_connect(listener, |key, _| {
        let silent = key.name.starts_with("silent");
        let ready = ConnectionStatus { state: ConnectionState::Ready, generation: 1, reason: None };
        let loads = if silent { VecDeque::new() } else { VecDeque::from([Ok(())]) };
        let (status, loads) = (watch::Sender::new(ready), Mutex::new(loads));
        Ok(Arc::new(ScriptedCatalog { key, status, loads }) as Arc<dyn CatalogConnection>)
    });
    let silent = (1..=READ_AT_ONCE.each).map(|number| ("a", format!("silent{number}")));
    let others = [("a", "next".to_owned()), ("b", "x".to_owned())];
    for (namespace, name) in silent.chain(others) {
        catalogs.connect(&CatalogKey::new(namespace, &name), "there:50051").unwrap();
    }
    assert_eq!(changes.recv().await.unwrap(), "b/x");
    let later = tokio::time::timeout(Duration::from_secs(60), changes.recv()).await;
    assert!(later.is_err(), "{later:?} was read although its namespace has no slot left");
    catalogs.forget(&CatalogKey::new("a", "silent1"));
    assert_eq!(changes.recv().await.unwrap(), "a/next");
}
