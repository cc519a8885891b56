//! Reconciles that wait for a server, beside others that do not; time is paused.

use std::collections::BTreeSet;

use super::*;
use crate::ObjectKey;

/// Keys whose name is `slow` wait until they are released; all others end at once.
#[derive(Default)]
struct Servers {
    running: Mutex<BTreeSet<ObjectKey>>,
    done: Mutex<Vec<String>>,
    changed: Notify,
    release: tokio::sync::watch::Sender<bool>,
}

#[async_trait]
impl Reconciler<ObjectKey> for Servers {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        assert!(self.running.lock().insert(key.clone()), "{key} is reconciled twice at a time");
        self.changed.notify_waiters();
        if key.name.starts_with("slow") {
            let mut release = self.release.subscribe();
            release.wait_for(|released| *released).await.unwrap();
        }
        self.running.lock().remove(key);
        self.done.lock().push(key.to_string());
        self.changed.notify_waiters();
        Ok(Conclusion::Done)
    }
}

impl Servers {
    async fn until(&self, holds: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            if holds(self) {
                return;
            }
            changed.await;
        }
    }

    fn is_done(&self, key: &str) -> bool {
        self.done.lock().iter().any(|done| done == key)
    }

    fn running(&self) -> usize {
        self.running.lock().len()
    }
}

struct Bench {
    queue: Queue<ObjectKey>,
    servers: Arc<Servers>,
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

/// One worker.
fn bench(places: ParallelReconciles) -> Bench {
    let (queue, servers, shutdown) =
        (Queue::new(), Arc::new(Servers::default()), CancellationToken::new());
    let controller = Controller::new("test", queue.clone(), Arc::clone(&servers));
    let controller = controller.workers(1).beside(places);
    let task = tokio::spawn(controller.run(shutdown.clone()));
    Bench { queue, servers, shutdown, task }
}

impl Bench {
    fn add(&self, keys: &[&str]) {
        for key in keys {
            let (namespace, name) = key.split_once('/').unwrap();
            self.queue.add(ObjectKey::namespaced(namespace, name));
        }
    }

    async fn end(self) {
        self.servers.release.send_replace(true);
        self.shutdown.cancel();
        self.task.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn slow_reconciles_hold_up_only_their_namespace() {
    let bench = bench(ParallelReconciles::default());
    bench.add(&["a/slow1", "a/slow2", "a/next", "b/x"]);
    bench.servers.until(|servers| servers.is_done("b/x")).await;
    assert_eq!(bench.servers.running(), 2);
    assert!(!bench.servers.is_done("a/next"), "a third one of the namespace");
    bench.servers.release.send_replace(true);
    bench.servers.until(|servers| servers.is_done("a/next")).await;
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_that_changes_meanwhile_is_reconciled_once_more() {
    let bench = bench(ParallelReconciles::default());
    bench.add(&["a/slow"]);
    bench.servers.until(|servers| servers.running() == 1).await;
    bench.add(&["b/x"]);
    bench.servers.until(|servers| servers.is_done("b/x")).await;
    bench.add(&["a/slow", "b/y"]);
    bench.servers.until(|servers| servers.is_done("b/y")).await;
    bench.servers.release.send_replace(true);
    let twice = |servers: &Servers| {
        servers.done.lock().iter().filter(|done| *done == "a/slow").count() == 2
    };
    bench.servers.until(twice).await;
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_first_namespace_has_places_when_others_have_none() {
    let first = Some("olm".to_owned());
    let bench = bench(ParallelReconciles { all: 1, first, ..ParallelReconciles::default() });
    bench.add(&["a/slow"]);
    bench.servers.until(|servers| servers.running() == 1).await;
    bench.add(&["olm/slow", "b/x"]);
    bench.servers.until(|servers| servers.is_done("b/x")).await;
    assert_eq!(bench.servers.running(), 2);
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_waits_for_what_goes_on_beside_the_workers() {
    let bench = bench(ParallelReconciles::default());
    bench.add(&["a/slow", "b/x"]);
    bench.servers.until(|servers| servers.is_done("b/x")).await;
    let servers = Arc::clone(&bench.servers);
    bench.end().await;
    assert!(servers.is_done("a/slow"));
}
