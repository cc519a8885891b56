//! What is shown of a catalog whose server becomes too slow; time is paused.

use olm_catalog::connection::{
    BundleManifests, CatalogConnection, ConnectionState, ConnectionStatus, LoadError, RpcError,
};
use olm_catalog::registry::proto;
use olm_catalog::snapshot::{SnapshotBuilder, SnapshotLimits};
use olm_kit::aggregated::Resource;
use serde_json::json;
use tokio::sync::{Notify, mpsc, watch};

use super::*;
use crate::catalogs::{Budget, BudgetLimits, CatalogChange};

/// What the catalogs of the namespace may keep.
const LIMIT: usize = 1 << 20;

/// A catalog with the packages `a` and `b`, of which its server gives the second slowly or at once.
struct Server {
    status: watch::Sender<ConnectionStatus>,
    key: CatalogKey,
    slow: AtomicBool,
    /// The second package was asked for, and waits.
    asked: Notify,
}

#[async_trait]
impl CatalogConnection for Server {
    fn key(&self) -> &CatalogKey {
        &self.key
    }

    fn status(&self) -> watch::Receiver<ConnectionStatus> {
        self.status.subscribe()
    }

    async fn load(&self) -> Result<CatalogSnapshot, LoadError> {
        let mut builder = SnapshotBuilder::new(self.key.clone(), SnapshotLimits::default());
        for name in ["a", "b"] {
            let (csv_name, stable) = (format!("{name}.v1"), "stable".to_owned());
            let bundle = proto::Bundle {
                csv_name: csv_name.clone(),
                package_name: name.to_owned(),
                channel_name: stable.clone(),
                ..proto::Bundle::default()
            };
            builder.add(&bundle).unwrap();
            let channel = proto::Channel { name: stable, csv_name, ..proto::Channel::default() };
            let package = proto::Package { channels: vec![channel], ..proto::Package::default() };
            builder.add_package(name.into(), Ok(package)).unwrap();
        }
        Ok(builder.finish())
    }

    async fn bundle(&self, _: &str, _: &str, name: &str) -> Result<BundleManifests, RpcError> {
        if name == "b.v1" && self.slow.load(Ordering::Relaxed) {
            self.asked.notify_one();
            std::future::pending::<()>().await;
        }
        let csv = json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": {"name": name}, "spec": {"displayName": name, "version": "1.0.0"},
        });
        let (name, csv_json) = (name.to_owned(), csv.to_string());
        Ok(BundleManifests { name, csv_json, ..BundleManifests::default() })
    }
}

/// The catalog, which is loaded, and what makes its packages.
struct Bench {
    refresh: PackageReconciler,
    server: Arc<Server>,
    version: u32,
}

fn key() -> CatalogKey {
    CatalogKey::new("ns", "goods")
}

impl Bench {
    async fn new(slow: bool) -> Self {
        let ready = ConnectionStatus { state: ConnectionState::Ready, generation: 1, reason: None };
        let (status, slow) = (watch::Sender::new(ready), AtomicBool::new(slow));
        let server = Arc::new(Server { status, key: key(), slow, asked: Notify::new() });
        let (sender, mut changes) = mpsc::unbounded_channel();
        let connection = Arc::clone(&server);
        let limits = BudgetLimits { namespace: LIMIT, namespaces: LIMIT, global: LIMIT };
        let catalogs = Catalogs::with_connect(
            move |_, change| sender.send(change).unwrap_or_default(),
            move |_, _| Ok(Arc::clone(&connection) as Arc<dyn CatalogConnection>),
        );
        let catalogs = catalogs.budget(Arc::new(Budget::new(limits, "olm")));
        catalogs.connect(&key(), "there:50051").unwrap();
        while changes.recv().await.unwrap() != CatalogChange::Loaded {}
        let (store, packages) = (Store::new(), PackageCache::new("olm"));
        let refresh = PackageReconciler { store, catalogs, packages, made_of: DashMap::new() };
        Self { refresh, server, version: 0 }
    }

    /// The CatalogSource changes, and with it what its packages say; one look at them.
    async fn look(&mut self) -> Conclusion {
        self.version += 1;
        let version = self.version.to_string();
        let metadata =
            json!({"name": "goods", "namespace": "ns", "uid": "u", "resourceVersion": version});
        let source = json!({
            "metadata": metadata, "spec": {"sourceType": "grpc", "displayName": version},
        });
        self.refresh.store.insert_written(serde_json::from_value(source).unwrap());
        let key = ObjectKey { namespace: Some("ns".to_owned()), name: "goods".to_owned() };
        self.refresh.reconcile(&key).await.unwrap()
    }

    fn be_slow(&self, slow: bool) {
        self.server.slow.store(slow, Ordering::Relaxed);
    }

    /// Names of what is shown, and what each says that its catalog is called.
    fn shown(&self) -> Vec<String> {
        let shown = self.refresh.packages.list(None);
        shown.iter().map(|item| format!("{} {}", item.name(), item.cells().concat())).collect()
    }

    /// What the namespace may still keep.
    fn free(&self) -> usize {
        let other = CatalogKey::new("ns", "other");
        let fits = |bytes: &usize| self.refresh.catalogs.keep_packages(&other, *bytes).is_ok();
        let (mut free, mut step) = (0, LIMIT);
        while step > 0 {
            free += if fits(&(free + step)) { step } else { 0 };
            step /= 2;
        }
        self.refresh.catalogs.release_packages(&other);
        free
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_is_shown_of_a_catalog_of_which_nothing_was_shown() {
    let mut bench = Bench::new(true).await;
    let free = bench.free();
    let begun = Instant::now();
    assert_eq!(bench.look().await, Conclusion::RequeueAfter(AGAIN));
    assert_eq!(begun.elapsed(), BUNDLE);
    assert_eq!(bench.shown(), ["a 1"]);
    assert_eq!(bench.free(), free - bench.refresh.packages.bytes(&key()));
    bench.be_slow(false);
    assert_eq!(bench.look().await, Conclusion::Done);
    assert_eq!(bench.shown(), ["a 2", "b 2"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_stays_when_the_server_becomes_too_slow() {
    let mut bench = Bench::new(false).await;
    assert_eq!(bench.look().await, Conclusion::Done);
    let free = bench.free();
    bench.be_slow(true);
    assert_eq!(bench.look().await, Conclusion::RequeueAfter(AGAIN));
    assert_eq!(bench.shown(), ["a 1", "b 1"]);
    assert_eq!(bench.free(), free, "what is shown counts once, as before");
    bench.be_slow(false);
    assert_eq!(bench.look().await, Conclusion::Done);
    assert_eq!(bench.shown(), ["a 3", "b 3"]);
}

#[tokio::test(start_paused = true)]
async fn a_part_is_shown_when_another_catalog_took_the_memory_meanwhile() {
    let mut bench = Bench::new(false).await;
    assert_eq!(bench.look().await, Conclusion::Done);
    let other = CatalogKey::new("ns", "greedy");
    let (all, rest) = (bench.refresh.packages.bytes(&key()), bench.free() + 1);
    bench.be_slow(true);
    let (catalogs, server) = (bench.refresh.catalogs.clone(), Arc::clone(&bench.server));
    let greedy = async {
        server.asked.notified().await;
        catalogs.keep_packages(&other, rest)
    };
    let (looked, kept) = tokio::join!(bench.look(), greedy);
    assert_eq!((looked, kept), (Conclusion::RequeueAfter(AGAIN), Ok(())));
    assert_eq!(bench.shown(), ["a 2"]);
    let part = bench.refresh.packages.bytes(&key());
    assert_eq!(part + bench.free() + 1, all, "the part alone counts");
    bench.be_slow(false);
    catalogs.release_packages(&other);
    assert_eq!(bench.look().await, Conclusion::Done, "all of it is looked at again");
    assert_eq!(bench.shown(), ["a 3", "b 3"]);
}
