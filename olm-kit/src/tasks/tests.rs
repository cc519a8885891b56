//! How sets of tasks end.

use super::*;

fn tasks() -> Tasks {
    Tasks::new(CancellationToken::new())
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_set_drains_without_error() {
    let tasks = tasks();
    let token = tasks.token();
    tasks.spawn("watch", token.clone().cancelled_owned());
    token.cancel();
    assert_eq!(tasks.wait().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ends_ends_the_process() {
    let tasks = tasks();
    tasks.spawn("other", tasks.token().cancelled_owned());
    tasks.spawn("watch pods", async {});
    let error = tasks.wait().await.unwrap_err();
    assert_eq!(error.to_string(), "task watch pods ended unexpectedly");
}

#[tokio::test(start_paused = true)]
async fn a_failure_names_its_causes() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot serve")]
    struct Outer(#[source] std::fmt::Error);
    let tasks = tasks();
    tasks.spawn_fallible("admin", async { Err(Outer(std::fmt::Error)) });
    let error = tasks.wait().await.unwrap_err().to_string();
    assert!(error.starts_with("task admin failed: cannot serve: an error occurred"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_the_process_with_its_message() {
    let tasks = tasks();
    tasks.spawn("controller", async { panic!("index {} out of range", 7) });
    let error = tasks.wait().await.unwrap_err();
    let (name, message) = ("controller".to_owned(), "index 7 out of range".to_owned());
    assert_eq!(error, TaskError::Panicked { name, message });
}

#[tokio::test(start_paused = true)]
async fn a_task_that_does_not_drain_is_reported() {
    let tasks = tasks();
    tasks.spawn("stuck", std::future::pending());
    tasks.token().cancel();
    assert_eq!(tasks.wait().await, Err(TaskError::StillRunning { count: 1 }));
}

#[tokio::test]
async fn readiness_waits_for_every_gate() {
    let readiness = Readiness::new();
    assert!(readiness.is_ready());
    let (pods, csvs) = (readiness.gate("pods"), readiness.gate("csvs"));
    pods.open();
    assert_eq!((readiness.is_ready(), readiness.waiting_for()), (false, vec!["csvs".to_owned()]));
    let (waiting, ()) = tokio::join!(readiness.ready(), async { csvs.open() });
    assert_eq!((waiting, readiness.is_ready()), ((), true));
}
