//! Takes keys from a queue and has them reconciled.
//!
//! A failure, a panic included, is logged, counted and tried again after the key's back-off; it
//! never ends a worker. On shutdown no new key is taken and running reconciles finish.
//! Reconciles that wait for servers of others go on beside the workers, where a controller has
//! [`ParallelReconciles`] for them.

mod places;
mod reconcile;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

pub use places::ParallelReconciles;
use places::{ParallelLimit, ReconcileSlot};
pub use reconcile::{Conclusion, ReconcileError, Reconciler};

use crate::cause;
use crate::key::QueueKey;
use crate::leader::Leadership;
use crate::metrics::ControllerMetrics;
use crate::queue::{Queue, Taken};
use crate::tasks::{Panicked, Tasks, isolated};

/// A queue, what is done with its keys, and by how many at a time.
pub struct Controller<Key: QueueKey, R> {
    name: String,
    queue: Queue<Key>,
    reconciler: Arc<R>,
    workers: usize,
    metrics: Option<ControllerMetrics>,
    beside: Option<ParallelLimit<Key>>,
    /// Reconciles under way that may go on beside the workers.
    running: TaskTracker,
}

/// Runs an unmetered controller until `shutdown` is cancelled; see [`Controller`].
pub async fn run<Key: QueueKey, R: Reconciler<Key>>(
    name: &str,
    queue: Queue<Key>,
    workers: usize,
    reconciler: Arc<R>,
    shutdown: CancellationToken,
) {
    Controller::new(name, queue, reconciler).workers(workers).run(shutdown).await;
}

impl<Key: QueueKey, R: Reconciler<Key>> Controller<Key, R> {
    /// A controller with two workers, as in version 0.
    pub fn new(name: &str, queue: Queue<Key>, reconciler: Arc<R>) -> Self {
        Self {
            name: name.to_owned(),
            queue,
            reconciler,
            workers: 2,
            metrics: None,
            beside: None,
            running: TaskTracker::new(),
        }
    }

    /// How many keys are worked on at the same time; at least one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Reconciles that take long go on beside the workers, where there are places.
    #[must_use]
    pub fn beside(mut self, places: ParallelReconciles) -> Self {
        self.beside = Some(ParallelLimit::new(places, &self.queue));
        self
    }

    /// Counts into `metrics`, and shows the queue there.
    #[must_use]
    pub fn metrics(mut self, metrics: ControllerMetrics) -> Self {
        let queue = self.queue.clone();
        metrics.queue(&self.name, move || queue.figures());
        self.metrics = Some(metrics);
        self
    }

    /// Works as a critical task, from the moment that the process is ready, so that nothing is
    /// decided on a part of the facts, and leads.
    pub fn start(self, tasks: &Tasks, leadership: &Leadership) {
        let (readiness, token) = (tasks.readiness().clone(), tasks.token());
        let leadership = leadership.clone();
        tasks.spawn(&format!("controller {}", self.name), async move {
            let begin = async {
                readiness.ready().await;
                leadership.acquired().await;
            };
            tokio::select! {
                () = begin => self.run(token).await,
                () = token.cancelled() => {}
            }
        });
    }

    /// Works until `shutdown` is cancelled, then finishes what is running.
    pub async fn run(self, shutdown: CancellationToken) {
        let controller = Arc::new(self);
        let workers = (0..controller.workers).map(|_| controller.work(&shutdown));
        join_all(workers).await;
        controller.running.close();
        controller.running.wait().await;
    }

    async fn work(self: &Arc<Self>, shutdown: &CancellationToken) {
        loop {
            let Taken { key, waited, cause } = tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                taken = self.queue.take() => taken,
            };
            if self.beside.as_ref().is_some_and(|beside| beside.defer(&key)) {
                self.queue.done(&key);
                continue;
            }
            if let Some(metrics) = &self.metrics {
                metrics.taken(&self.name, waited);
            }
            let span = tracing::info_span!(
                "reconcile",
                controller = self.name,
                namespace = key.namespace(),
                name = key.name(),
            );
            match &self.beside {
                None => self.process(key, cause, shutdown).instrument(span).await,
                Some(beside) => self.begin((key, cause), shutdown, beside, span).await,
            }
        }
    }

    /// Begins the work and waits with it, until the time limit is over and a place beside the workers
    /// is free.
    async fn begin(
        self: &Arc<Self>,
        (key, cause): (Key, &'static str),
        shutdown: &CancellationToken,
        beside: &ParallelLimit<Key>,
        span: Span,
    ) {
        let place: Arc<Mutex<Option<ReconcileSlot<Key>>>> = Arc::default();
        let (me, owned, shutdown) = (Arc::clone(self), key.clone(), shutdown.clone());
        let taken = Arc::clone(&place);
        let work = async move {
            me.process(owned, cause, &shutdown).await;
            drop(taken);
        };
        let mut work = self.running.spawn(work.instrument(span));
        while timeout(beside.time_limit(), &mut work).await.is_err() {
            if let Some(free) = beside.enter(&key) {
                *place.lock() = Some(free);
                return;
            }
        }
    }

    /// One reconcile of one key, from taking it to handing it back.
    async fn process(&self, key: Key, cause: &'static str, shutdown: &CancellationToken) {
        let start = Instant::now();
        let (result, had_effect) = self.reconcile(key.clone()).await;
        if let Some(metrics) = &self.metrics {
            metrics.observe(&self.name, start.elapsed(), result.is_err());
            if result.is_ok() && !had_effect {
                metrics.without_effect(&self.name, cause);
            }
        }
        match result {
            Ok(conclusion) => self.succeeded(&key, conclusion),
            Err(error) if shutdown.is_cancelled() => tracing::info!(%error, "not tried again"),
            Err(error) => self.failed(&key, &error),
        }
        self.queue.done(&key);
    }

    /// Reconciles in a task of its own, so that a panic or a blocked worker stays contained. Says
    /// whether that wrote anything.
    async fn reconcile(&self, key: Key) -> (Result<Conclusion, ReconcileError>, bool) {
        let reconciler = self.reconciler.clone();
        let had_effect = Arc::new(AtomicBool::new(false));
        let work = async move { reconciler.reconcile(&key).await };
        let work = cause::observed(Arc::clone(&had_effect), work);
        let result = match isolated(work.in_current_span()).await {
            Ok(result) => result,
            Err(Panicked(message)) => Err(ReconcileError::Panicked(message)),
        };
        (result, had_effect.load(Ordering::Relaxed))
    }

    fn succeeded(&self, key: &Key, conclusion: Conclusion) {
        self.queue.forget(key);
        if let Conclusion::RequeueAfter(delay) = conclusion {
            self.queue.add_after(key.clone(), delay);
        }
    }

    fn failed(&self, key: &Key, error: &ReconcileError) {
        let after = self.queue.retry(key.clone());
        if error.is_conflict() {
            tracing::debug!(%error, ?after, "the object changed meanwhile, trying again");
        } else {
            let failures = self.queue.failures(key);
            tracing::warn!(%error, ?after, failures, "reconcile failed, trying again");
        }
    }
}
