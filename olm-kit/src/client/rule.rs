//! What layers between a client and the API server have in common: each puts one rule around calls.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::{Request, Response};
use kube::client::Body;
use tower::{BoxError, Layer, Service};

/// The answer to a call.
pub(crate) type ResponseFuture<B> = BoxFuture<'static, Result<Response<B>, BoxError>>;

/// A rule about calls.
pub(crate) trait Rule: Clone {
    /// Sends the request with `send`, or does not.
    fn call<F, B, E>(
        &self,
        request: Request<Body>,
        send: impl FnOnce(Request<Body>) -> F,
    ) -> ResponseFuture<B>
    where
        F: Future<Output = Result<Response<B>, E>> + Send + 'static,
        E: Into<BoxError>;
}

/// The layer that puts a rule around calls.
#[derive(Clone)]
pub(crate) struct RuleLayer<R>(pub(crate) R);

impl<S, R: Rule> Layer<S> for RuleLayer<R> {
    type Service = Ruled<S, R>;

    fn layer(&self, inner: S) -> Ruled<S, R> {
        Ruled { inner, rule: self.0.clone() }
    }
}

/// A service whose calls follow a rule.
#[derive(Clone)]
pub(crate) struct Ruled<S, R> {
    inner: S,
    rule: R,
}

impl<S, R, B> Service<Request<Body>> for Ruled<S, R>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    R: Rule,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> ResponseFuture<B> {
        let inner = &mut self.inner;
        self.rule.call(request, |request| inner.call(request))
    }
}
