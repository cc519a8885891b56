//! What a program sees of each fault, and that a seed repeats a run.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use rstest::rstest;
use tower::{Layer, ServiceExt, service_fn};

use super::*;

/// What a program sees of one request, and whether the server saw it.
async fn send(injector: &Injector, uri: &str) -> (String, bool) {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    let server = service_fn(move |_: Request<()>| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from("12345678")))) }
    });
    let request = Request::get(uri).body(()).unwrap();
    let answer = match FaultLayer::new(injector.clone()).layer(server).oneshot(request).await {
        Err(_) => "cut".to_owned(),
        Ok(answer) => {
            let code = answer.status().as_u16();
            match answer.into_body().collect().await {
                Ok(body) => format!("{code} {}", String::from_utf8_lossy(&body.to_bytes())),
                Err(_) => format!("{code} cut"),
            }
        }
    };
    (answer, seen.load(Ordering::SeqCst) > 0)
}

fn always(fault: Fault) -> Injector {
    let injector = Injector::new(7);
    injector.follow(Plan { percent: 100, ..Plan::of(&[fault]) });
    injector
}

const READ: &str = "http://h/api/v1/pods";
const WATCH: &str = "http://h/api/v1/pods?watch=true";

#[rstest]
#[case::too_many(Fault::TooManyRequests, READ, "429", false)]
#[case::broken(Fault::ServerError, READ, "50", false)]
#[case::cut_before(Fault::CutBefore, READ, "cut", false)]
#[case::cut_after(Fault::CutAfter, READ, "cut", true)]
#[case::expired_token(Fault::Unauthorized, WATCH, "401", false)]
#[case::slow(Fault::Slow, READ, "200 12345678", true)]
#[case::a_read_is_no_watch(Fault::Gone, READ, "200 12345678", true)]
#[case::a_watch_is_never_slow(Fault::Slow, WATCH, "200 12345678", true)]
#[tokio::test(start_paused = true)]
async fn what_a_program_sees(
    #[case] fault: Fault,
    #[case] uri: &str,
    #[case] answer: &str,
    #[case] passed: bool,
) {
    let (given, seen) = send(&always(fault), uri).await;
    assert!(given.starts_with(answer), "{given}");
    assert_eq!(seen, passed);
}

#[tokio::test]
async fn a_watch_is_answered_in_both_ways_that_its_version_is_too_old() {
    let injector = always(Fault::Gone);
    let mut ways = std::collections::BTreeSet::new();
    for number in 0..16 {
        let (answer, seen) = send(&injector, &format!("http://h/{number}?watch=true")).await;
        assert!(answer.contains("\"code\":410") && !seen, "{answer}");
        ways.insert(answer.split(' ').next().unwrap().to_owned());
    }
    assert_eq!(ways, ["200", "410"].map(str::to_owned).into());
}

#[tokio::test]
async fn a_cut_watch_ends_in_the_middle_of_an_event() {
    let injector = always(Fault::CutWatch);
    assert_eq!(send(&injector, WATCH).await, ("200 cut".to_owned(), true));
    assert_eq!(send(&injector, READ).await, ("200 12345678".to_owned(), true));
    assert_eq!(injector.follow(Plan::calm()), [(Fault::CutWatch, 1)].into());
}

#[tokio::test]
async fn a_seed_repeats_a_run_and_another_one_does_not() {
    let run = async |seed: u64| {
        let injector = Injector::new(seed);
        injector.follow(Plan::of(&[Fault::CutBefore]));
        let mut answers = Vec::new();
        for number in 0..64 {
            answers.push(send(&injector, &format!("http://h/{}", number % 8)).await.0);
        }
        (answers, injector.follow(Plan::calm()))
    };
    let (first, counts) = run(1).await;
    assert_eq!((first.clone(), counts.clone()), run(1).await);
    assert_ne!(first, run(2).await.0);
    let cut = first.iter().filter(|answer| *answer == "cut").count();
    assert_eq!(counts, [(Fault::CutBefore, u64::try_from(cut).unwrap())].into());
}

#[tokio::test]
async fn a_burst_fails_in_a_row_and_comes_to_an_end() {
    let injector = Injector::new(3);
    injector.follow(Plan { percent: 100, burst: 3, most: 5, ..Plan::of(&[Fault::CutBefore]) });
    for _ in 0..5 {
        assert_eq!(send(&injector, READ).await.0, "cut");
    }
    assert_eq!(send(&injector, READ).await.0, "200 12345678");
    injector.follow(Plan::calm());
    assert_eq!(send(&injector, READ).await.0, "200 12345678");
}
