//! Elections against a scripted API server: who leads, who writes, how it ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::scripted::Script;
use crate::tasks::{TaskError, Tasks};

const PATH: &str = "/apis/coordination.k8s.io/v1/namespaces/olm/leases";

fn options() -> LeaseOptions {
    LeaseOptions::new("olm", "operator", "me".to_owned())
}

fn lease(holder: &str, version: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "operator", "namespace": "olm", "resourceVersion": version},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 1},
    })
}

fn get() -> String {
    format!("GET {PATH}/operator")
}

fn put() -> String {
    format!("PUT {PATH}/operator?")
}

/// An election whose API server never answers, and when this replica was ended.
fn silent(tasks: &Tasks) -> (Election, Arc<Mutex<Option<Instant>>>) {
    let silence = tower::service_fn(|_: Request<Body>| async {
        std::future::pending::<()>().await;
        Ok::<_, std::io::Error>(Response::new(Body::empty()))
    });
    let election = Election::new(Client::new(silence, "default"), options());
    let ended: Arc<Mutex<Option<Instant>>> = Arc::default();
    let end = Arc::clone(&ended);
    election.start(tasks, Arc::new(move |_| *end.lock() = Some(Instant::now())));
    (election, ended)
}

fn started(script: &Script) -> (Election, Tasks) {
    let election = Election::new(script.client(), options());
    let tasks = Tasks::new(CancellationToken::new());
    election.start(&tasks, Arc::new(|_| ()));
    (election, tasks)
}

/// Seconds of the paused clock.
async fn never_leads_within(election: &Election, seconds: u64) -> bool {
    timeout(Duration::from_secs(seconds), election.leadership().acquired()).await.is_err()
}

#[test]
fn a_process_alone_leads() {
    let leadership = Leadership::alone();
    assert!(leadership.is_leader() && leadership.may_write());
}

#[tokio::test(start_paused = true)]
async fn the_first_creates_the_lease_and_leads() {
    let script = Script::new()
        .refuse(&get(), 404, "NotFound", "leases \"operator\" not found")
        .answer(&format!("POST {PATH}?"), 201, lease("me", "1"));
    let (election, tasks) = started(&script);
    election.leadership().acquired().await;
    assert!(election.leadership().may_write());
    tasks.readiness().ready().await;
    assert_eq!(script.finish()[1].body["spec"]["holderIdentity"], "me");
}

#[tokio::test(start_paused = true)]
async fn a_follower_is_ready_and_takes_over_from_a_silent_leader() {
    let mut script = Script::new();
    // At 0, 2, ... 14 s the lease is younger than its 15 s.
    for _ in 0..8 {
        script = script.answer(&get(), 200, lease("other", "7"));
    }
    let script =
        script.answer(&get(), 200, lease("other", "7")).answer(&put(), 200, lease("me", "8"));
    let (election, tasks) = started(&script);
    tasks.readiness().ready().await;
    assert!(!election.leadership().is_leader() && !election.leadership().may_write());
    let start = Instant::now();
    election.leadership().acquired().await;
    assert_eq!(start.elapsed().as_secs(), 16);
    let written = script.finish().pop().unwrap();
    assert_eq!(written.body["spec"]["leaseTransitions"], 2);
    assert_eq!(written.body["metadata"]["resourceVersion"], "7");
}

#[tokio::test(start_paused = true)]
async fn a_follower_waits_again_when_the_leader_renews() {
    let mut script = Script::new();
    for version in 0..20 {
        script = script.answer(&get(), 200, lease("other", &version.to_string()));
    }
    let (election, _tasks) = started(&script);
    assert!(never_leads_within(&election, 39).await);
    script.finish();
}

/// The leader renews its Lease between any two looks, whose answers take longer than it may be silent.
#[tokio::test(start_paused = true)]
async fn the_time_that_an_answer_takes_is_no_silence_of_the_leader() {
    let looks = AtomicUsize::new(0);
    let server = tower::service_fn(move |_: Request<Body>| {
        let look = looks.fetch_add(1, Ordering::SeqCst);
        let mut young = lease("other", &look.to_string());
        young["spec"]["leaseDurationSeconds"] = json!(3);
        async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            Ok::<_, std::io::Error>(Response::new(Body::from(young.to_string().into_bytes())))
        }
    });
    let election = Election::new(Client::new(server, "default"), options());
    let tasks = Tasks::new(CancellationToken::new());
    election.start(&tasks, Arc::new(|_| ()));
    assert!(never_leads_within(&election, 60).await);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_another_replica_that_was_faster() {
    let script = Script::new()
        .answer(&get(), 200, lease("", "1"))
        .refuse(&put(), 409, "Conflict", "the object has been modified")
        .answer(&get(), 200, lease("other", "2"));
    let (election, _tasks) = started(&script);
    assert!(never_leads_within(&election, 3).await);
    script.finish();
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_stops_writing_and_ends() {
    let script =
        Script::new().answer(&get(), 200, lease("", "1")).answer(&put(), 200, lease("me", "2"));
    let (election, tasks) = started(&script);
    election.leadership().acquired().await;
    let start = Instant::now();
    // Everything after that is refused.
    let error = tasks.wait().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "task leader election failed: the lease olm/operator was not renewed for 10s, another \
         replica may lead now"
    );
    assert!(!election.leadership().may_write());
    assert_eq!(start.elapsed().as_secs(), 10);
}

/// The end of a request that is never answered is not waited for.
#[tokio::test(start_paused = true)]
async fn a_leader_ends_at_the_moment_at_which_its_lease_runs_out() {
    let tasks = Tasks::new(CancellationToken::new());
    let (election, ended) = silent(&tasks);
    let renewed = Instant::now();
    tokio::time::advance(Duration::from_secs(3)).await;
    election.leadership().renewed(renewed, options().deadline);
    tasks.wait().await.unwrap_err();
    assert_eq!(*ended.lock(), Some(renewed + options().deadline));
}

#[rstest::rstest]
#[case::it_takes_too_long(false)]
#[case::it_was_given_back(true)]
#[tokio::test(start_paused = true)]
async fn draining_ends_with_the_lease(#[case] is_released: bool) {
    let tasks = Tasks::new(CancellationToken::new());
    let (election, ended) = silent(&tasks);
    let renewed = Instant::now();
    election.leadership().renewed(renewed, options().deadline);
    tasks.token().cancel();
    tasks.wait().await.unwrap();
    if is_released {
        election.release().await;
    }
    tokio::time::sleep(Duration::from_secs(20)).await;
    let expected = (!is_released).then(|| renewed + options().deadline);
    assert_eq!(*ended.lock(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_was_taken_ends() {
    let script = Script::new()
        .answer(&get(), 200, lease("", "1"))
        .answer(&put(), 200, lease("me", "2"))
        .answer(&get(), 200, lease("other", "3"));
    let (election, tasks) = started(&script);
    let error = tasks.wait().await.unwrap_err();
    assert!(
        matches!(&error, TaskError::Failed { message, .. }
        if message == "the lease olm/operator was taken by other"),
        "{error}"
    );
    assert!(!election.leadership().may_write());
}

#[tokio::test(start_paused = true)]
async fn writes_end_by_time_even_if_the_task_hangs() {
    let leadership = Leadership::awaited();
    leadership.renewed(Instant::now(), Duration::from_secs(10));
    assert!(leadership.may_write());
    tokio::time::advance(Duration::from_secs(10)).await;
    assert!(!leadership.may_write() && leadership.is_leader());
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_ends_lets_others_go_on() {
    let script = Script::new()
        .answer(&get(), 200, lease("", "1"))
        .answer(&put(), 200, lease("me", "2"))
        .answer(&get(), 200, lease("me", "2"))
        .answer(&put(), 200, lease("", "3"));
    let (election, tasks) = started(&script);
    election.leadership().acquired().await;
    tasks.token().cancel();
    tasks.wait().await.unwrap();
    election.release().await;
    assert!(!election.leadership().may_write());
    let released = script.finish().pop().unwrap();
    assert_eq!(released.line, format!("{} {PATH}/operator?", Method::PUT));
    assert_eq!(released.body["spec"]["holderIdentity"], "");
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_ends_leaves_the_lease_alone() {
    let script = Script::new().answer(&get(), 200, lease("other", "1"));
    let (election, tasks) = started(&script);
    tasks.readiness().ready().await;
    tasks.token().cancel();
    tasks.wait().await.unwrap();
    election.release().await;
    script.finish();
}
