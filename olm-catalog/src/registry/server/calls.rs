//! The calls of `api.Registry`.
//!
//! Answers are sent as the index holds them: the generated server would decode a message to encode
//! it again, which takes longer than all the rest. An index is read where a call is answered: its
//! records lie in the page cache, and reading one takes less time than handing the work to another
//! thread.

use std::convert::Infallible;
use std::iter;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use olm_types::gvk::Gvk;
use prost::Message;
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{BufferSettings, Streaming};
use tonic::codegen::{Service, http};
use tonic::server::NamedService;
use tonic_prost::ProstDecoder;

use super::Source;
use super::body;
use super::chunk::Buffers;
use super::streams::Streams;
use crate::index::{EncodedMessage, QueryError};
use crate::registry::proto;
use crate::registry::proto::registry_server::SERVICE_NAME;

type Response = http::Response<Body>;

/// Answers from a source.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    pub(super) source: Arc<dyn Source>,
    pub(super) streams: Arc<Streams>,
    pub(super) buffers: Arc<Buffers>,
    /// Largest request, in bytes.
    pub(super) request_bytes: usize,
}

impl NamedService for Calls {
    const NAME: &'static str = SERVICE_NAME;
}

impl Service<http::Request<Body>> for Calls {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let calls = self.clone();
        Box::pin(async move { Ok(calls.answer(request).await.unwrap_or_else(Status::into_http)) })
    }
}

impl Calls {
    async fn answer(&self, request: http::Request<Body>) -> Result<Response, Status> {
        let path = request.uri().path().to_owned();
        let asked = request.into_body();
        let name = path.rsplit('/').next().unwrap_or_default();
        match name {
            "ListPackages" => self.answer_with(asked, Self::list_packages).await,
            "GetPackage" => self.answer_with(asked, Self::get_package).await,
            "GetBundle" => self.answer_with(asked, Self::get_bundle).await,
            "GetBundleForChannel" => self.answer_with(asked, Self::get_bundle_for_channel).await,
            "GetChannelEntriesThatReplace" => self.answer_with(asked, Self::replacing).await,
            "GetBundleThatReplaces" => self.answer_with(asked, Self::replacement).await,
            "GetChannelEntriesThatProvide" => self.answer_with(asked, Self::providing).await,
            "GetLatestChannelEntriesThatProvide" => {
                self.answer_with(asked, Self::latest_providing).await
            }
            "GetDefaultBundleThatProvides" => self.answer_with(asked, Self::provider).await,
            "ListBundles" => self.answer_with(asked, Self::list_bundles).await,
            _ => Err(Status::unimplemented(format!(
                "unknown method {name} for service {SERVICE_NAME}"
            ))),
        }
    }

    /// Reads the request, and answers as `find` says.
    async fn answer_with<T: Message + Default + 'static>(
        &self,
        asked: Body,
        find: fn(&Self, T) -> Result<Response, Status>,
    ) -> Result<Response, Status> {
        let decoder = ProstDecoder::new(BufferSettings::default());
        let mut asked = Streaming::new_request(decoder, asked, None, Some(self.request_bytes));
        let asked = asked.message().await?;
        find(self, asked.ok_or_else(|| Status::internal("the call has no request"))?)
    }

    fn list_packages(&self, _: proto::ListPackageRequest) -> Result<Response, Status> {
        self.all(self.source.packages())
    }

    fn get_package(&self, asked: proto::GetPackageRequest) -> Result<Response, Status> {
        self.one(self.source.package(&asked.name).map(|package| EncodedMessage::of(&package)))
    }

    fn get_bundle(&self, asked: proto::GetBundleRequest) -> Result<Response, Status> {
        self.one(self.source.bundle(&asked.pkg_name, &asked.channel_name, &asked.csv_name))
    }

    fn get_bundle_for_channel(
        &self,
        asked: proto::GetBundleInChannelRequest,
    ) -> Result<Response, Status> {
        self.one(self.source.head(&asked.pkg_name, &asked.channel_name))
    }

    fn replacing(&self, asked: proto::GetAllReplacementsRequest) -> Result<Response, Status> {
        self.all(self.source.entries_that_replace(&asked.csv_name).map_err(status)?)
    }

    fn replacement(&self, asked: proto::GetReplacementRequest) -> Result<Response, Status> {
        let proto::GetReplacementRequest { csv_name, pkg_name, channel_name } = &asked;
        self.one(self.source.bundle_that_replaces(csv_name, pkg_name, channel_name))
    }

    fn providing(&self, asked: proto::GetAllProvidersRequest) -> Result<Response, Status> {
        let api = Gvk::new(asked.group, asked.version, asked.kind);
        self.all(self.source.entries_that_provide(&api).map_err(status)?)
    }

    fn latest_providing(
        &self,
        asked: proto::GetLatestProvidersRequest,
    ) -> Result<Response, Status> {
        let api = Gvk::new(asked.group, asked.version, asked.kind);
        self.all(self.source.heads_that_provide(&api).map_err(status)?)
    }

    fn provider(&self, asked: proto::GetDefaultProviderRequest) -> Result<Response, Status> {
        let api = Gvk::new(asked.group, asked.version, asked.kind);
        self.one(self.source.default_provider(&api))
    }

    fn list_bundles(&self, _: proto::ListBundlesRequest) -> Result<Response, Status> {
        let source = Arc::clone(&self.source);
        let bundles = (0..source.len()).filter_map(move |place| source.listed(place));
        Ok(body::response(self.streams.open(bundles.map(Ok))?, &self.buffers))
    }

    fn one<T: 'static>(
        &self,
        answer: Result<EncodedMessage<T>, QueryError>,
    ) -> Result<Response, Status> {
        let answer = answer.map_err(status)?;
        Ok(body::response(iter::once(Ok(answer)), &self.buffers))
    }

    /// A stream of messages that are at hand.
    fn all<T: Message + Default + 'static>(&self, messages: Vec<T>) -> Result<Response, Status> {
        let answers = messages.into_iter().map(|message| Ok(EncodedMessage::of(&message)));
        Ok(body::response(self.streams.open(answers)?, &self.buffers))
    }
}

/// Questions without an answer have the code Unknown, as with `opm`.
fn status(error: QueryError) -> Status {
    Status::unknown(error.to_string())
}
