//! Controllers with a scripted reconciler; time is paused.

mod places;

use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::*;
use crate::metrics::Metrics;

type Reconciled = fn() -> Result<Conclusion, ReconcileError>;

/// Answers from a script, one per call; afterwards everything is fine.
#[derive(Default)]
struct Scripted {
    answers: Mutex<Vec<Reconciled>>,
    calls: Mutex<Vec<String>>,
    called: Notify,
}

#[async_trait]
impl Reconciler<String> for Scripted {
    async fn reconcile(&self, key: &String) -> Result<Conclusion, ReconcileError> {
        self.calls.lock().push(key.clone());
        self.called.notify_one();
        let answer = self.answers.lock().pop();
        answer.map_or(Ok(Conclusion::Done), |answer| answer())
    }
}

impl Scripted {
    fn new(mut answers: Vec<Reconciled>) -> Arc<Self> {
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), ..Self::default() })
    }

    async fn calls(&self, count: usize) -> Vec<String> {
        while self.calls.lock().len() < count {
            self.called.notified().await;
        }
        self.calls.lock().clone()
    }
}

struct Running {
    queue: Queue<String>,
    scripted: Arc<Scripted>,
    metrics: Metrics,
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

fn start(answers: Vec<Reconciled>) -> Running {
    let (queue, scripted) = (Queue::new(), Scripted::new(answers));
    let (metrics, shutdown) = (Metrics::new().unwrap(), CancellationToken::new());
    let controller =
        Controller::new("test", queue.clone(), scripted.clone()).metrics(metrics.controllers());
    let task = tokio::spawn(controller.run(shutdown.clone()));
    Running { queue, scripted, metrics, shutdown, task }
}

impl Running {
    async fn end(self) -> String {
        self.shutdown.cancel();
        self.task.await.unwrap();
        self.metrics.encode().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_tried_again_and_counted() {
    let running =
        start(vec![|| Err(ReconcileError::message("not yet")), || panic!("a defect"), || {
            Ok(Conclusion::Done)
        }]);
    running.queue.add("a".to_owned());
    assert_eq!(running.scripted.calls(3).await, ["a", "a", "a"]);
    let (queue, text) = (running.queue.clone(), running.end().await);
    assert_eq!((queue.failures(&"a".to_owned()), queue.running()), (0, 0));
    assert!(text.contains(r#"reconciles_total{controller="test",result="error"} 2"#), "{text}");
    assert!(text.contains(r#"reconciles_total{controller="test",result="success"} 1"#), "{text}");
    let idle = r#"reconciles_without_effect_total{controller="test",trigger="time"} 1"#;
    assert!(text.contains(idle), "{text}");
}

#[tokio::test(start_paused = true)]
async fn passes_that_write_nothing_are_counted_by_what_asked_for_them() {
    let running = start(vec![|| {
        cause::note_effect();
        Ok(Conclusion::Done)
    }]);
    for (key, calls) in [("a", 1), ("b", 2)] {
        running.queue.add(key.to_owned());
        running.scripted.calls(calls).await;
    }
    let text = running.end().await;
    let idle = r#"reconciles_without_effect_total{controller="test",trigger="other"} 1"#;
    assert!(text.contains(idle), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_requeue_comes_after_its_delay() {
    let running = start(vec![|| Ok(Conclusion::RequeueAfter(Duration::from_secs(30)))]);
    let start = tokio::time::Instant::now();
    running.queue.add("a".to_owned());
    running.scripted.calls(2).await;
    assert_eq!(start.elapsed(), Duration::from_secs(30));
    running.end().await;
}

/// Runs until it is released.
struct Slow {
    started: Notify,
    release: Notify,
    finished: Mutex<u32>,
}

#[async_trait]
impl Reconciler<String> for Slow {
    async fn reconcile(&self, _: &String) -> Result<Conclusion, ReconcileError> {
        self.started.notify_one();
        self.release.notified().await;
        *self.finished.lock() += 1;
        Ok(Conclusion::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_finishes_what_runs_and_takes_nothing_new() {
    let slow = Slow { started: Notify::new(), release: Notify::new(), finished: Mutex::new(0) };
    let (queue, slow, shutdown) = (Queue::new(), Arc::new(slow), CancellationToken::new());
    let task = tokio::spawn(run("slow", queue.clone(), 1, slow.clone(), shutdown.clone()));
    ["a", "b"].into_iter().for_each(|key| queue.add(key.to_owned()));
    slow.started.notified().await;
    shutdown.cancel();
    slow.release.notify_one();
    task.await.unwrap();
    assert_eq!((*slow.finished.lock(), queue.len()), (1, 1));
}

#[test]
fn errors_say_who_refused() {
    let refusal = |code, reason: &str, message: &str| olm_effect::Refusal {
        code,
        reason: reason.to_owned(),
        message: message.to_owned(),
    };
    let forbidden = ReconcileError::from(refusal(403, "Forbidden", "pods is forbidden"));
    assert_eq!(
        forbidden.to_string(),
        "refused by the API server (403 Forbidden): pods is forbidden"
    );
    let lost = ReconcileError::from(refusal(0, "NoAnswer", "connection refused"));
    assert_eq!(lost.to_string(), "API server not reached: connection refused");
    assert!(ReconcileError::from(refusal(409, "Conflict", "changed")).is_conflict());
}
