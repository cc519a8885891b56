//! A layer that bounds and counts calls.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use http::{Request, Response};
use kube::client::Body;
use tokio::time::timeout;
use tower::{BoxError, Layer, Service};

use super::verb::{WATCH, verb};
use crate::metrics::RequestMetrics;

/// The API server did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("no answer from the API server within {0:?}")]
pub(super) struct NoAnswer(Duration);

/// Adds a bound on the time to the head of the answer, except for watches.
#[derive(Clone)]
pub(super) struct BoundLayer {
    limit: Duration,
    metrics: Option<RequestMetrics>,
}

impl BoundLayer {
    pub(super) fn new(limit: Duration, metrics: Option<RequestMetrics>) -> Self {
        Self { limit, metrics }
    }
}

impl<S> Layer<S> for BoundLayer {
    type Service = Bound<S>;

    fn layer(&self, inner: S) -> Bound<S> {
        Bound { inner, layer: self.clone() }
    }
}

/// A service with a bound on its calls.
#[derive(Clone)]
pub(super) struct Bound<S> {
    inner: S,
    layer: BoundLayer,
}

impl<S, B> Service<Request<Body>> for Bound<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<B>, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let method = request.method().clone();
        let verb = verb(&method, request.uri());
        let limit = (verb != WATCH).then_some(self.layer.limit);
        let call = self.inner.call(request);
        let metrics = self.layer.metrics.clone();
        Box::pin(async move {
            let start = Instant::now();
            let result = match limit {
                Some(limit) => match timeout(limit, call).await {
                    Ok(result) => result.map_err(Into::into),
                    Err(_) => Err(NoAnswer(limit).into()),
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
    use tower::ServiceExt;

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
