//! A layer that bounds and counts calls.

use std::time::{Duration, Instant};

use http::{Request, Response};
use kube::client::Body;
use tokio::time::timeout;
use tower::BoxError;

use super::rule::{ResponseFuture, Rule, RuleLayer};
use super::verb::{WATCH, verb};
use crate::metrics::RequestMetrics;

/// The API server did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("no answer from the API server within {0:?}")]
pub(super) struct ResponseTimeout(Duration);

/// Adds a bound on the time to the head of the answer, except for watches.
pub(super) type BoundLayer = RuleLayer<Bound>;

impl BoundLayer {
    pub(super) fn new(limit: Duration, metrics: Option<RequestMetrics>) -> Self {
        Self(Bound { limit, metrics })
    }
}

/// Calls have to be answered in time, and are counted.
#[derive(Clone)]
pub(super) struct Bound {
    limit: Duration,
    metrics: Option<RequestMetrics>,
}

impl Rule for Bound {
    fn call<F, B, E>(
        &self,
        request: Request<Body>,
        send: impl FnOnce(Request<Body>) -> F,
    ) -> ResponseFuture<B>
    where
        F: Future<Output = Result<Response<B>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let method = request.method().clone();
        let verb = verb(&method, request.uri());
        let limit = (verb != WATCH).then_some(self.limit);
        let call = send(request);
        let metrics = self.metrics.clone();
        Box::pin(async move {
            let start = Instant::now();
            let result = match limit {
                Some(limit) => match timeout(limit, call).await {
                    Ok(result) => result.map_err(Into::into),
                    Err(_) => Err(ResponseTimeout(limit).into()),
                },
                None => call.await.map_err(Into::into),
            };
            if let Some(metrics) = metrics {
                let code = result.as_ref().map_or(0, |response| response.status().as_u16());
                metrics.observe(method.as_str(), verb, code, start.elapsed());
            }
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use tower::{Layer, ServiceExt};

    use super::*;

    async fn call(uri: &str) -> Result<Response<()>, String> {
        let slow = tower::service_fn(|_: Request<Body>| async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            Ok::<_, BoxError>(Response::new(()))
        });
        let service = BoundLayer::new(Duration::from_secs(40), None).layer(slow);
        let request = Request::get(uri).body(Body::empty()).unwrap();
        service.oneshot(request).await.map_err(|error| error.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn calls_are_bounded_and_watches_are_not() {
        let error = call("/api/v1/pods?limit=500").await.unwrap_err();
        assert_eq!(error, "no answer from the API server within 40s");
        assert!(call("/api/v1/pods?&watch=true&timeoutSeconds=290").await.is_ok());
    }
}
