//! Bodies of responses: encoded messages, each with its length in front, and the status at the end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body::Frame;
use prost::bytes::Bytes;
use tonic::body::Body;
use tonic::codegen::http::header::CONTENT_TYPE;
use tonic::codegen::http::{HeaderMap, Response};
use tonic::metadata::GRPC_CONTENT_TYPE;
use tonic::{Code, Status};

use super::chunk::{Buffers, Chunk};
use crate::index::EncodedMessage;

/// A response with these answers; the first error ends it, and is its status.
pub(super) fn response<T: 'static>(
    answers: impl Iterator<Item = Result<EncodedMessage<T>, Status>> + Send + 'static,
    buffers: &Arc<Buffers>,
) -> Response<Body> {
    let buffers = Arc::clone(buffers);
    let messages =
        Messages { answers, buffers, current: EncodedMessage::default(), end: End::NotYet };
    let mut response = Response::new(Body::new(messages));
    response.headers_mut().insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
    response
}

struct Messages<I, T> {
    answers: I,
    buffers: Arc<Buffers>,
    /// What is being sent.
    current: EncodedMessage<T>,
    end: End,
}

/// Nothing in it is ever pinned.
impl<I, T> Unpin for Messages<I, T> {}

enum End {
    NotYet,
    /// All messages were sent: this comes last.
    Status(Status),
    Sent,
}

impl<I, T> http_body::Body for Messages<I, T>
where
    I: Iterator<Item = Result<EncodedMessage<T>, Status>>,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Poll::Ready(self.get_mut().frame().transpose())
    }
}

impl<I, T> Messages<I, T>
where
    I: Iterator<Item = Result<EncodedMessage<T>, Status>>,
{
    fn frame(&mut self) -> Result<Option<Frame<Bytes>>, Status> {
        let mut chunk = self.buffers.chunk();
        if matches!(self.end, End::NotYet) {
            match self.fill(&mut chunk) {
                Ok(true) => {}
                Ok(false) => self.end = End::Status(Status::new(Code::Ok, "")),
                Err(status) => self.end = End::Status(status),
            }
        }
        if !chunk.is_empty() {
            return Ok(Some(Frame::data(chunk.into_bytes())));
        }
        let End::Status(status) = std::mem::replace(&mut self.end, End::Sent) else {
            return Ok(None);
        };
        let mut trailers = HeaderMap::new();
        status.add_header(&mut trailers)?;
        Ok(Some(Frame::trailers(trailers)))
    }

    /// Reads until the chunk is full; false when there is nothing more.
    fn fill(&mut self, chunk: &mut Chunk) -> Result<bool, Status> {
        let unreadable = |error| Status::data_loss(format!("the index cannot be read: {error}"));
        while chunk.free() > 0 {
            if self.current.is_empty() {
                let Some(answer) = self.answers.next() else { return Ok(false) };
                self.current = begun(answer?)?;
            }
            chunk.take(&mut self.current).map_err(unreadable)?;
        }
        Ok(true)
    }
}

/// A message with what stands in front of it: that it is not compressed, and its length.
fn begun<T>(message: EncodedMessage<T>) -> Result<EncodedMessage<T>, Status> {
    let length = u32::try_from(message.len())
        .map_err(|_| Status::out_of_range("a message has more than 4 GiB"))?;
    let [a, b, c, d] = length.to_be_bytes();
    Ok(message.behind(vec![0, a, b, c, d]))
}
