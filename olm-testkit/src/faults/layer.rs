//! The layer around a connection.

use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use hyper::body::{Body, Bytes};
use tower::{BoxError, Layer, Service};

use super::body::{ConnectionCut, ResponseBody, cut_when, expired, passed_on, status};
use super::injector::{Fault, FaultPoint, InjectedFault, Injector};

/// What comes back through the layer.
pub type ApiResponse = Response<ResponseBody>;

/// How much longer a slow answer takes at most, in milliseconds.
const SLOW: u64 = 1500;

/// Makes requests fail as an injector says.
#[derive(Clone)]
pub struct FaultLayer {
    injector: Injector,
}

impl FaultLayer {
    /// Asks this injector about each request.
    pub fn new(injector: Injector) -> Self {
        Self { injector }
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = Faulty<S>;

    fn layer(&self, inner: S) -> Faulty<S> {
        Faulty { inner, injector: self.injector.clone() }
    }
}

/// A service some of whose requests fail. An error means that the connection is to be cut.
#[derive(Clone)]
pub struct Faulty<S> {
    inner: S,
    injector: Injector,
}

impl<S, B, C> Service<Request<B>> for Faulty<S>
where
    S: Service<Request<B>, Response = Response<C>, Future: Send + 'static, Error: Into<BoxError>>,
    C: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = ApiResponse;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<ApiResponse, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (injector, moment) = (self.injector.clone(), FaultPoint::of(&request));
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let verdict = injector.judge(moment, &method, &path);
        if let Some(refused) = verdict.and_then(refusal) {
            return Box::pin(async move { refused });
        }
        let call = self.inner.call(request);
        Box::pin(async move {
            let answer = call.await.map_err(Into::into)?;
            match verdict {
                Some(InjectedFault { fault: Fault::CutAfter, .. }) => Err(ConnectionCut.into()),
                Some(InjectedFault { fault: Fault::Slow, detail }) => {
                    tokio::time::sleep(Duration::from_millis(detail % SLOW)).await;
                    Ok(passed_on(answer))
                }
                _ if moment == FaultPoint::Watch => Ok(cut_when(answer, move || {
                    injector.judge(FaultPoint::Event, &method, &path).is_some()
                })),
                _ => Ok(passed_on(answer)),
            }
        })
    }
}

/// The answer to a request that the API server does not get to see.
fn refusal(
    InjectedFault { fault, detail }: InjectedFault,
) -> Option<Result<ApiResponse, BoxError>> {
    const BROKEN: [(StatusCode, &str); 4] = [
        (StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
        (StatusCode::BAD_GATEWAY, ""),
        (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
        (StatusCode::GATEWAY_TIMEOUT, "Timeout"),
    ];
    match fault {
        Fault::TooManyRequests => {
            Some(Ok(status(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests")))
        }
        Fault::ServerError => {
            let (code, reason) = BROKEN[usize::try_from(detail % 4).unwrap_or_default()];
            Some(Ok(status(code, reason)))
        }
        Fault::CutBefore => Some(Err(ConnectionCut.into())),
        Fault::Gone if detail.is_multiple_of(2) => Some(Ok(status(StatusCode::GONE, "Expired"))),
        Fault::Gone => Some(Ok(expired())),
        Fault::Unauthorized => Some(Ok(status(StatusCode::UNAUTHORIZED, "Unauthorized"))),
        Fault::CutAfter | Fault::CutWatch | Fault::Slow => None,
    }
}
