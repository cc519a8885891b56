//! A layer that lets a replica write only while it leads.
//!
//! It lies below the retries and looks at every attempt: one that begins without the Lease is not
//! sent, and one that is under way when the Lease runs out is given up, which closes its connection.
//! The time is read before anything of an attempt goes on, so that a process that was stopped for a
//! while sends nothing that it had begun. What a server has taken by then may still be carried out;
//! the time between the leader's deadline and the end of the Lease is meant for that.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use http::{Method, Request, Response};
use kube::client::Body;
use tower::BoxError;

use super::rule::{ResponseFuture, Rule, RuleLayer};
use crate::leader::Leadership;

/// API groups whose objects are questions: nothing of them is stored, and every replica asks them about
/// those who call it.
const QUESTIONS: [&str; 2] = ["/apis/authentication.k8s.io/", "/apis/authorization.k8s.io/"];

/// A write without the Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fenced {
    /// It was not sent.
    #[error("this replica does not lead")]
    NotSent,
    /// It was given up; whether it was carried out is not known.
    #[error("the lease of this replica ran out before the API server answered")]
    GivenUp,
}

/// Lets writes pass while this replica leads. Reads, and questions about callers, always pass.
pub(crate) type FenceLayer = RuleLayer<Fence>;

impl FenceLayer {
    /// Asks `leadership` about each attempt.
    pub(crate) fn new(leadership: Leadership) -> Self {
        Self(Fence { leadership })
    }
}

/// Writes are sent only while this replica leads.
#[derive(Clone)]
pub(crate) struct Fence {
    leadership: Leadership,
}

impl Rule for Fence {
    fn call<F, B, E>(
        &self,
        request: Request<Body>,
        send: impl FnOnce(Request<Body>) -> F,
    ) -> ResponseFuture<B>
    where
        F: Future<Output = Result<Response<B>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let is_write = is_write(&request);
        if is_write && !self.leadership.may_write() {
            return Box::pin(async { Err(Fenced::NotSent.into()) });
        }
        let call = send(request);
        let leadership = self.leadership.clone();
        Box::pin(async move {
            let answer =
                if is_write { while_leading(call, &leadership).await? } else { call.await };
            answer.map_err(Into::into)
        })
    }
}

/// The end of `call`, unless the Lease runs out before.
async fn while_leading<T>(
    call: impl Future<Output = T>,
    leadership: &Leadership,
) -> Result<T, Fenced> {
    let (mut call, mut lapse) = (pin!(call), pin!(leadership.lapsed()));
    poll_fn(|context| {
        let has_lapsed = !leadership.may_write() || lapse.as_mut().poll(context).is_ready();
        if has_lapsed { Poll::Ready(Err(Fenced::GivenUp)) } else { next(call.as_mut(), context) }
    })
    .await
}

fn next<F: Future>(
    call: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<Result<F::Output, Fenced>> {
    call.poll(context).map(Ok)
}

fn is_write(request: &Request<Body>) -> bool {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    // The API server may be behind a prefix.
    !is_read && !QUESTIONS.iter().any(|group| request.uri().path().contains(group))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use kube::client::retry::RetryPolicy;
    use rstest::rstest;
    use tokio::time::{Instant, sleep};
    use tower::retry::RetryLayer;
    use tower::{Layer, ServiceExt};

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(10);

    fn leader() -> Leadership {
        let leadership = Leadership::awaited();
        leadership.renewed(Instant::now(), DEADLINE);
        leadership
    }

    /// A server that takes its time, and counts what it has answered.
    #[derive(Clone, Default)]
    struct Slow {
        answered: Arc<AtomicUsize>,
    }

    impl Slow {
        async fn send(
            &self,
            method: Method,
            path: &str,
            leadership: &Leadership,
            takes: u64,
        ) -> Result<u16, String> {
            let count = Arc::clone(&self.answered);
            let server = tower::service_fn(move |_: Request<Body>| {
                let count = Arc::clone(&count);
                async move {
                    sleep(Duration::from_secs(takes)).await;
                    count.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, BoxError>(Response::new(()))
                }
            });
            let service = FenceLayer::new(leadership.clone()).layer(server);
            let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
            let answer = service.oneshot(request).await;
            answer.map(|answer| answer.status().as_u16()).map_err(|error| error.to_string())
        }
    }

    #[rstest]
    #[case::read(Method::GET, "/api/v1/pods", true)]
    #[case::write(Method::POST, "/api/v1/namespaces/a/pods", false)]
    #[case::status(Method::PUT, "/apis/apps/v1/namespaces/a/deployments/b/status", false)]
    #[case::removal(Method::DELETE, "/api/v1/namespaces/a/pods/b", false)]
    #[case::token(Method::POST, "/api/v1/namespaces/a/serviceaccounts/b/token", false)]
    #[case::review(Method::POST, "/apis/authorization.k8s.io/v1/subjectaccessreviews", true)]
    #[case::review(Method::POST, "/x/apis/authentication.k8s.io/v1/tokenreviews", true)]
    #[tokio::test(start_paused = true)]
    async fn a_follower_only_reads(#[case] method: Method, #[case] path: &str, #[case] may: bool) {
        let (server, follower) = (Slow::default(), Leadership::awaited());
        let expected = if may { Ok(200) } else { Err(Fenced::NotSent.to_string()) };
        assert_eq!(server.send(method.clone(), path, &follower, 0).await, expected);
        assert_eq!(server.answered.load(Ordering::SeqCst), usize::from(may));
        assert_eq!(server.send(method.clone(), path, &leader(), 0).await, Ok(200));
        assert_eq!(server.send(method, path, &Leadership::alone(), 60).await, Ok(200));
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_ends_with_the_lease() {
        let (server, leader, start) = (Slow::default(), leader(), Instant::now());
        sleep(Duration::from_secs(7)).await;
        let answer = server.send(Method::POST, "/api/v1/pods", &leader, 20).await;
        assert_eq!(answer, Err(Fenced::GivenUp.to_string()));
        assert_eq!((start.elapsed(), server.answered.load(Ordering::SeqCst)), (DEADLINE, 0));
        assert_eq!(server.send(Method::GET, "/api/v1/pods", &leader, 20).await, Ok(200));
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_goes_on_while_the_lease_is_renewed() {
        let (server, leader) = (Slow::default(), leader());
        let renewing = leader.clone();
        tokio::spawn(async move {
            for _ in 0..3 {
                sleep(Duration::from_secs(5)).await;
                renewing.renewed(Instant::now(), DEADLINE);
            }
        });
        assert_eq!(server.send(Method::POST, "/api/v1/pods", &leader, 20).await, Ok(200));
    }

    /// A process that was stopped finds its timers and its sockets ready at the same time.
    #[tokio::test(start_paused = true)]
    async fn nothing_goes_on_after_a_stop_however_ready_it_is() {
        let leader = leader();
        let (begun, sent) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (first, second) = (Arc::clone(&begun), Arc::clone(&sent));
        let call = async move {
            first.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            second.fetch_add(1, Ordering::SeqCst);
        };
        let mut fenced = Box::pin(while_leading(call, &leader));
        assert!(futures::poll!(&mut fenced).is_pending());
        tokio::time::advance(DEADLINE).await;
        assert_eq!(fenced.await, Err(Fenced::GivenUp));
        let counts = [begun, sent].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counts, [1, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_without_the_lease_is_not_sent() {
        let leader = leader();
        let attempts = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&attempts);
        let busy = tower::service_fn(move |_: Request<Body>| {
            count.fetch_add(1, Ordering::SeqCst);
            let busy = Response::builder().status(429).header("Retry-After", "6").body(());
            async { Ok::<_, BoxError>(busy?) }
        });
        let (least, most) = (Duration::from_millis(100), Duration::from_secs(2));
        let retry = RetryLayer::new(RetryPolicy::new(least, most, 5, true).unwrap());
        let service = retry.layer(FenceLayer::new(leader).layer(busy));
        let request = Request::post("/api/v1/pods").body(Body::empty()).unwrap();
        let error = service.oneshot(request).await.unwrap_err();
        assert_eq!(error.downcast_ref(), Some(&Fenced::NotSent));
        assert_eq!(attempts.load(Ordering::SeqCst), 2, "at 0 and 6 s, not at 12 s");
    }
}
