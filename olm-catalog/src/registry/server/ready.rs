//! Single bundles, sent as the index holds them: they are not decoded to be encoded again.
//!
//! The generated server makes a message of every answer, which takes longer than all the rest. So
//! the calls that are asked for most are answered here, in front of it.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tonic::body::Body;
use tonic::codec::{BufferSettings, Codec, EncodeBuf, Encoder};
use tonic::codegen::{BoxFuture as Answering, Service, http};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstDecoder;

use super::service::status;
use crate::index::{Index, QueryError};
use crate::registry::proto::{GetBundleInChannelRequest, GetBundleRequest};

/// A server with another one behind it.
#[derive(Clone, Debug)]
pub(super) struct ReadyBundles<S> {
    pub(super) index: Arc<Index>,
    /// Largest request, in bytes.
    pub(super) request_bytes: usize,
    /// Answers all other calls.
    pub(super) behind: S,
}

impl<S: NamedService> NamedService for ReadyBundles<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for ReadyBundles<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.behind.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match request.uri().path() {
            "/api.Registry/GetBundle" => self.answer(request, |index, asked: GetBundleRequest| {
                index.encoded_bundle(&asked.pkg_name, &asked.channel_name, &asked.csv_name)
            }),
            "/api.Registry/GetBundleForChannel" => {
                self.answer(request, |index, asked: GetBundleInChannelRequest| {
                    index.encoded_head(&asked.pkg_name, &asked.channel_name)
                })
            }
            _ => Box::pin(self.behind.call(request)),
        }
    }
}

/// Finds the bytes of an answer.
type Find<T> = fn(&Index, T) -> Result<Vec<u8>, QueryError>;

impl<S> ReadyBundles<S> {
    fn answer<T>(
        &self,
        request: http::Request<Body>,
        find: Find<T>,
    ) -> BoxFuture<'static, Result<http::Response<Body>, Infallible>>
    where
        T: prost::Message + Default + Send + 'static,
    {
        let call = Call { index: Arc::clone(&self.index), find };
        let mut grpc = Grpc::new(Ready(PhantomData)).max_decoding_message_size(self.request_bytes);
        Box::pin(async move { Ok(grpc.unary(call, request).await) })
    }
}

struct Call<T> {
    index: Arc<Index>,
    find: Find<T>,
}

impl<T: Send + 'static> UnaryService<T> for Call<T> {
    type Response = Vec<u8>;
    type Future = Answering<Response<Vec<u8>>, Status>;

    fn call(&mut self, request: Request<T>) -> Self::Future {
        let found = (self.find)(&self.index, request.into_inner());
        Box::pin(std::future::ready(found.map(Response::new).map_err(status)))
    }
}

/// Reads messages and writes bytes.
struct Ready<T>(PhantomData<fn() -> T>);

impl<T: prost::Message + Default + Send + 'static> Codec for Ready<T> {
    type Encode = Vec<u8>;
    type Decode = T;
    type Encoder = Bytes;
    type Decoder = ProstDecoder<T>;

    fn encoder(&mut self) -> Bytes {
        Bytes
    }

    fn decoder(&mut self) -> ProstDecoder<T> {
        ProstDecoder::new(BufferSettings::default())
    }
}

/// Writes a message that is encoded already.
struct Bytes;

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(item.len());
        prost::bytes::BufMut::put_slice(buffer, &item);
        Ok(())
    }
}
