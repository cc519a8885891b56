//! Answers that end between messages.
//!
//! A gRPC message is behind five bytes: a flag and its length. The gRPC library ends a stream at the
//! server's trailers even when a message has begun; half a listing would then count as a whole,
//! smaller catalog. Here such an end is an error.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Bytes, Service, http};

/// Flag and length, in bytes.
const HEADER: usize = 5;

/// What helps when answers are cut off.
const REMEDY: &str = "it is asked for again; if it ends early each time, look at the log of the catalog's server, \
    and at what is between it and catalog-operator";

/// A channel whose answers are whole.
#[derive(Clone, Debug)]
pub struct CompleteResponses<C>(pub(super) C);

impl<C> Service<http::Request<Body>> for CompleteResponses<C>
where
    C: Service<http::Request<Body>, Response = http::Response<Body>>,
    C::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = C::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, C::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = self.0.call(request);
        let whole = |body| Body::new(CompleteBody { body, place: StreamPosition::default() });
        Box::pin(async move { Ok(answer.await?.map(whole)) })
    }
}

/// A body that fails where it ends inside a message.
struct CompleteBody {
    body: Body,
    place: StreamPosition,
}

impl http_body::Body for CompleteBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(match frame {
            Some(Ok(frame)) => Some(self.place.pass(frame)),
            Some(Err(error)) => Some(Err(error)),
            None => self.place.end().err().map(Err),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && self.place.end().is_ok()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Where in a stream of messages.
#[derive(Debug, Default)]
struct StreamPosition {
    /// Bytes there are of the header that has begun.
    known: usize,
    /// The last four of them, which in the end are the length.
    length: u32,
    /// Bytes of the message that are to come.
    missing: usize,
}

impl StreamPosition {
    fn pass(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, Status> {
        match frame.data_ref() {
            Some(data) => self.read(data),
            None => self.end()?,
        }
        Ok(frame)
    }

    fn read(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            data = match self.missing {
                0 => self.read_header(data),
                missing => {
                    let now = missing.min(data.len());
                    self.missing = missing - now;
                    data.get(now..).unwrap_or_default()
                }
            };
        }
    }

    /// Returns what follows.
    fn read_header<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        let (now, rest) = data.split_at(data.len().min(HEADER - self.known));
        self.length = now.iter().fold(self.length, |length, byte| length << 8 | u32::from(*byte));
        self.known += now.len();
        if self.known == HEADER {
            self.missing = self.length as usize;
            self.known = 0;
        }
        rest
    }

    fn end(&self) -> Result<(), Status> {
        match (self.known, self.missing) {
            (0, 0) => Ok(()),
            (0, missing) => Err(Status::internal(format!(
                "the answer ends inside a message: {missing} bytes of it are missing; {REMEDY}"
            ))),
            _ => Err(Status::internal(format!(
                "the answer ends inside the header of a message; {REMEDY}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::StreamPosition;

    const TWO: &[u8] = &[0, 0, 0, 0, 2, 7, 7, 1, 0, 0, 0, 0];

    #[rstest]
    #[case::nothing(&[], true)]
    #[case::two_messages(TWO, true)]
    #[case::half_a_header(&TWO[..3], false)]
    #[case::a_header(&TWO[..5], false)]
    #[case::half_a_message(&TWO[..6], false)]
    #[case::a_message(&TWO[..7], true)]
    #[case::half_a_second_header(&TWO[..9], false)]
    fn a_stream_may_end_between_messages(#[case] bytes: &[u8], #[case] whole: bool) {
        for piece in 1..=bytes.len().max(1) {
            let mut place = StreamPosition::default();
            bytes.chunks(piece).for_each(|piece| place.read(piece));
            assert_eq!(place.end().is_ok(), whole, "in pieces of {piece}");
        }
    }

    #[test]
    fn what_is_missing_is_counted() {
        let mut place = StreamPosition::default();
        place.read(&[0, 0, 0, 3, 232, 1]);
        let said = place.end().unwrap_err().to_string();
        assert!(said.contains("999 bytes of it are missing; it is asked for again"), "{said}");
        place = StreamPosition::default();
        place.read(&[0, 0]);
        let said = place.end().unwrap_err().to_string();
        assert!(said.contains("header of a message; it is asked for again"), "{said}");
    }
}
