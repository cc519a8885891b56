//! Time is paused in all of these; `advance` moves it.

use std::time::Duration;

use futures::FutureExt;
use tokio::time::advance;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// `namespace/name`, or the name of something that the cluster has once.
impl QueueKey for &'static str {
    fn namespace(&self) -> &str {
        self.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    fn name(&self) -> &str {
        self
    }
}

fn queue(keys: &[&'static str]) -> Queue<&'static str> {
    let queue = Queue::new();
    keys.iter().for_each(|key| queue.add(*key));
    queue
}

fn now(queue: &Queue<&'static str>) -> Option<&'static str> {
    queue.next().now_or_never()
}

#[tokio::test(start_paused = true)]
async fn keys_leave_in_order_and_once() {
    let queue = queue(&["b", "a", "b", "c"]);
    assert_eq!(queue.len(), 3);
    assert_eq!(
        [now(&queue), now(&queue), now(&queue), now(&queue)],
        [Some("b"), Some("a"), Some("c"), None]
    );
}

/// Whoever has many objects in one namespace keeps no other waiting for all of them.
#[tokio::test(start_paused = true)]
async fn namespaces_take_turns() {
    let queue = queue(&["a/1", "a/2", "a/3", "b/1", "c/1", "b/2"]);
    let order: Vec<_> = std::iter::from_fn(|| now(&queue)).collect();
    assert_eq!(order, ["a/1", "b/1", "c/1", "a/2", "b/2", "a/3"]);
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_held_key_waits_for_its_worker() {
    let queue = queue(&["a"]);
    assert_eq!(now(&queue), Some("a"));
    queue.add("a");
    queue.add("a");
    assert_eq!((now(&queue), queue.len(), queue.running()), (None, 1, 1));
    queue.done(&"a");
    assert_eq!(now(&queue), Some("a"));
    queue.done(&"a");
    assert_eq!((now(&queue), queue.running()), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn the_earliest_delay_wins() {
    let queue = queue(&[]);
    queue.add_after("a", 10 * SECOND);
    queue.add_after("a", 2 * SECOND);
    queue.add_after("a", 5 * SECOND);
    assert_eq!((now(&queue), queue.delayed()), (None, 1));
    advance(2 * SECOND).await;
    assert_eq!(now(&queue), Some("a"));
    queue.done(&"a");
    advance(60 * SECOND).await;
    assert_eq!(now(&queue), None);
}

#[tokio::test(start_paused = true)]
async fn a_due_key_keeps_its_delayed_turn() {
    let queue = queue(&["a"]);
    queue.add_after("a", SECOND);
    assert_eq!(now(&queue), Some("a"));
    advance(SECOND).await;
    assert_eq!(now(&queue), None, "held");
    queue.done(&"a");
    assert_eq!(now(&queue), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn failures_wait_longer_until_forgotten() {
    let queue = queue(&[]);
    let delays: Vec<_> = (0..3).map(|_| queue.retry("a").as_millis()).collect();
    assert_eq!((delays, queue.failures(&"a")), (vec![5, 10, 20], 3));
    queue.forget(&"a");
    assert_eq!((queue.retry("a").as_millis(), queue.failures(&"a")), (5, 1));
    assert_eq!(queue.retry("b").as_millis(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_sleeping_worker_sees_an_earlier_key() {
    let queue = queue(&[]);
    queue.add_after("late", 100 * SECOND);
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move { (queue.next().await, Instant::now()) }
    });
    tokio::task::yield_now().await;
    let start = Instant::now();
    queue.add_after("early", SECOND);
    let (key, at) = worker.await.unwrap();
    assert_eq!((key, at - start), ("early", SECOND));
}

#[tokio::test(start_paused = true)]
async fn every_worker_gets_work() {
    let queue = queue(&[]);
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.next().await })
        })
        .collect();
    tokio::task::yield_now().await;
    queue.add_after("d", SECOND);
    ["a", "b", "c"].into_iter().for_each(|key| queue.add(key));
    let mut keys = Vec::new();
    for worker in workers {
        keys.push(worker.await.unwrap());
    }
    keys.sort_unstable();
    assert_eq!(keys, ["a", "b", "c", "d"]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_loses_nothing() {
    let queue = queue(&[]);
    assert_eq!(now(&queue), None);
    queue.add("a");
    assert_eq!(now(&queue), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn figures_report_how_long_keys_wait_and_workers_work() {
    let queue = queue(&["a", "b"]);
    advance(2 * SECOND).await;
    let taken = queue.take().now_or_never().unwrap();
    assert_eq!(taken, Taken { key: "a", waited: 2 * SECOND, cause: "other" });
    queue.add("a");
    queue.add("a");
    queue.add_after("c", 60 * SECOND);
    advance(3 * SECOND).await;
    let figures = queue.figures();
    assert_eq!((figures.due, figures.delayed, figures.running, figures.adds), (2, 1, 1, 3));
    assert_eq!((figures.oldest_seconds, figures.longest_seconds), (5.0, 3.0));
    assert_eq!(now(&queue), Some("b"));
    advance(SECOND).await;
    assert_eq!(queue.figures().unfinished_seconds, 5.0);
    queue.retry("a");
    let figures = queue.figures();
    assert_eq!((figures.failing, figures.retries), (1, 1));
    queue.done(&"a");
    let again = queue.take().now_or_never().unwrap();
    assert_eq!(again, Taken { key: "a", waited: 4 * SECOND, cause: "other" });
}

#[tokio::test(start_paused = true)]
async fn a_delayed_key_waits_from_its_time_on() {
    let queue = queue(&[]);
    queue.add_after("a", SECOND);
    advance(3 * SECOND).await;
    assert_eq!(queue.take().now_or_never().unwrap().waited, 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_key_is_due_to_what_asked_for_it_first() {
    let queue = queue(&[]);
    cause::changing::<String>(|| queue.add("a"));
    queue.add("a");
    queue.add_after("b", SECOND);
    let cause = || queue.take().now_or_never().map(|taken| taken.cause);
    assert_eq!(cause(), Some("String"));
    advance(SECOND).await;
    assert_eq!(cause(), Some("time"));
}
