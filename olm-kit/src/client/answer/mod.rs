//! Answers of the API server as readers get them: nothing that is not needed, and nothing that no reader
//! can read.
//!
//! `managedFields` may be larger than the object they are about, and a definition is next to nothing
//! beside its schemas. What is left out while it arrives takes no buffer, is never parsed, and leaves no
//! hole in memory when it goes.
//!
//! An API server takes objects that nest ten thousand levels where a definition lets fields be anything,
//! and a reader of JSON that calls itself for each level has to give up long before. In a list it gives
//! up all of it: one object of one tenant would leave the operator blind to its kind, in all namespaces,
//! deleted. So what is nested deeper than any manifest may be
//! (`olm_types::document::Budget`) reads as `null`; where that is not allowed, the object is malformed,
//! and it alone.
//!
//! ```text
//! fields  which fields are left out, as a tree
//! filter  where in a text of JSON the next byte stands, and what is done with it
//! output  what is passed on of a piece
//! ```

mod fields;
mod filter;
mod output;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::{BoxFuture, FutureExt, TryFutureExt};
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use hyper::body::{Body, Bytes, Frame};
use kube::Client;
use kube::client::Body as KubeBody;
use tower::{Layer, Service, service_fn};

pub use fields::Fields;
use filter::Filter;

/// A client whose answers lack these fields as well.
pub(crate) fn without(client: &Client, fields: &Fields) -> Client {
    let (client, fields) = (client.clone(), fields.clone());
    let namespace = client.default_namespace().to_owned();
    let ask = move |mut request: Request<KubeBody>| {
        request.extensions_mut().insert(fields.clone());
        let client = client.clone();
        async move { client.send(request).await }
    };
    Client::new(service_fn(ask), namespace)
}

/// Puts a filter on every answer. A request may bring its own [`Fields`].
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerLayer {
    /// What no answer has.
    always: Fields,
}

impl<S> Layer<S> for AnswerLayer {
    type Service = Answering<S>;

    fn layer(&self, inner: S) -> Answering<S> {
        Answering { inner, always: self.always.clone() }
    }
}

/// A service with a filter on its answers.
#[derive(Clone, Debug)]
pub(super) struct Answering<S> {
    inner: S,
    always: Fields,
}

impl<S, A> Service<Request<KubeBody>> for Answering<S>
where
    S: Service<Request<KubeBody>, Response = Response<A>>,
    S::Future: Send + 'static,
    A: 'static,
{
    type Response = Response<Answer<A>>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<KubeBody>) -> Self::Future {
        let fields = request.extensions_mut().remove().unwrap_or_else(|| self.always.clone());
        self.inner.call(request).map_ok(move |answer| filtered(answer, fields)).boxed()
    }
}

/// An answer without these fields, and without what is nested too deep. Other formats than JSON stay as
/// they are.
fn filtered<A>(answer: Response<A>, fields: Fields) -> Response<Answer<A>> {
    let format = answer.headers().get(CONTENT_TYPE).map(|format| format.as_bytes());
    let is_json = format.is_some_and(|format| format.starts_with(b"application/json"));
    answer.map(|body| Answer { body, filter: is_json.then(|| Filter::new(fields)) })
}

/// The body of an answer, of one object, a list or any number of events.
pub(super) struct Answer<A> {
    body: A,
    filter: Option<Filter>,
}

impl<A: Body<Data = Bytes> + Unpin> Body for Answer<A> {
    type Data = Bytes;
    type Error = A::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, A::Error>>> {
        let Self { body, filter } = self.get_mut();
        let frame = ready!(Pin::new(body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            frame.map(|frame| match filter {
                Some(filter) => frame.map_data(|data| filter.pass(data)),
                None => frame,
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
