//! Bodies of answers: passed on, made up, or cut.

use futures::{StreamExt, TryStreamExt};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Bytes, Frame};
use serde_json::{Value, json};
use tower::BoxError;

/// What the layer answers with.
pub type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

/// The connection ended.
#[derive(Debug, thiserror::Error)]
#[error("the connection is cut, as the plan of faults wants it")]
pub(super) struct ConnectionCut;

/// The answer as it is.
pub(super) fn passed_on<B>(answer: Response<B>) -> Response<ResponseBody>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    answer.map(|body| body.map_err(Into::into).boxed_unsync())
}

/// The answer with an end in the middle of a frame, as soon as `is_last` says so of one.
pub(super) fn cut_when<B>(
    answer: Response<B>,
    mut is_last: impl FnMut() -> bool + Send + 'static,
) -> Response<ResponseBody>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    answer.map(|body| {
        let data = body.into_data_stream().map_err(Into::into);
        let data = data.flat_map(move |chunk| {
            let parts = match chunk {
                Ok(chunk) if is_last() => vec![Ok(half(&chunk)), Err(ConnectionCut.into())],
                other => vec![other],
            };
            futures::stream::iter(parts)
        });
        StreamBody::new(data.map_ok(Frame::data)).boxed_unsync()
    })
}

fn half(chunk: &Bytes) -> Bytes {
    chunk.slice(..chunk.len() / 2)
}

/// A `Status` of the API server that says no.
pub(super) fn status(code: StatusCode, reason: &str) -> Response<ResponseBody> {
    let status = status_object(code, reason);
    let mut answer = Response::new(whole(&status));
    *answer.status_mut() = code;
    answer.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    if code == StatusCode::TOO_MANY_REQUESTS {
        answer.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
    }
    answer
}

/// A watch that says at once that it cannot go on from that version.
pub(super) fn expired() -> Response<ResponseBody> {
    let status = status_object(StatusCode::GONE, "Expired");
    let mut answer = Response::new(whole(&json!({"type": "ERROR", "object": status})));
    answer.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    answer
}

fn status_object(code: StatusCode, reason: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "injected by a test", "reason": reason, "code": code.as_u16(),
    })
}

fn whole(value: &Value) -> ResponseBody {
    Full::new(Bytes::from(format!("{value}\n"))).map_err(|never| match never {}).boxed_unsync()
}
