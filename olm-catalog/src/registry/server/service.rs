//! The calls of `api.Registry`.
//!
//! The index is read where a call is answered: its records lie in the page cache, and reading one
//! takes less time than handing the work to another thread.

use std::pin::Pin;
use std::sync::Arc;

use futures::Stream;
use olm_types::gvk::Gvk;
use tonic::{Request, Response, Status, async_trait};

use super::streams::Streams;
use crate::index::{Index, QueryError};
use crate::registry::proto;
use crate::registry::proto::registry_server::Registry;

/// A stream of answers, made while it is read.
pub(super) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Answers from an index.
#[derive(Clone, Debug)]
pub(super) struct RegistryService {
    pub(super) index: Arc<Index>,
    pub(super) streams: Arc<Streams>,
}

#[async_trait]
impl Registry for RegistryService {
    type ListPackagesStream = Answers<proto::PackageName>;
    type GetChannelEntriesThatReplaceStream = Answers<proto::ChannelEntry>;
    type GetChannelEntriesThatProvideStream = Answers<proto::ChannelEntry>;
    type GetLatestChannelEntriesThatProvideStream = Answers<proto::ChannelEntry>;
    type ListBundlesStream = Answers<proto::Bundle>;

    async fn list_packages(
        &self,
        _: Request<proto::ListPackageRequest>,
    ) -> Result<Response<Self::ListPackagesStream>, Status> {
        self.all(self.index.packages().collect())
    }

    async fn get_package(
        &self,
        request: Request<proto::GetPackageRequest>,
    ) -> Result<Response<proto::Package>, Status> {
        one(self.index.package(&request.get_ref().name))
    }

    async fn get_bundle(
        &self,
        request: Request<proto::GetBundleRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        let asked = request.get_ref();
        one(self.index.bundle(&asked.pkg_name, &asked.channel_name, &asked.csv_name))
    }

    async fn get_bundle_for_channel(
        &self,
        request: Request<proto::GetBundleInChannelRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        let asked = request.get_ref();
        one(self.index.head(&asked.pkg_name, &asked.channel_name))
    }

    async fn get_channel_entries_that_replace(
        &self,
        request: Request<proto::GetAllReplacementsRequest>,
    ) -> Result<Response<Self::GetChannelEntriesThatReplaceStream>, Status> {
        self.rows(self.index.entries_that_replace(&request.get_ref().csv_name))
    }

    async fn get_bundle_that_replaces(
        &self,
        request: Request<proto::GetReplacementRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        let asked = request.get_ref();
        let (package, channel) = (&asked.pkg_name, &asked.channel_name);
        one(self.index.bundle_that_replaces(&asked.csv_name, package, channel))
    }

    async fn get_channel_entries_that_provide(
        &self,
        request: Request<proto::GetAllProvidersRequest>,
    ) -> Result<Response<Self::GetChannelEntriesThatProvideStream>, Status> {
        let asked = request.into_inner();
        let api = Gvk::new(asked.group, asked.version, asked.kind);
        self.rows(self.index.entries_that_provide(&api))
    }

    async fn get_latest_channel_entries_that_provide(
        &self,
        request: Request<proto::GetLatestProvidersRequest>,
    ) -> Result<Response<Self::GetLatestChannelEntriesThatProvideStream>, Status> {
        let asked = request.into_inner();
        let api = Gvk::new(asked.group, asked.version, asked.kind);
        self.rows(self.index.heads_that_provide(&api))
    }

    async fn get_default_bundle_that_provides(
        &self,
        request: Request<proto::GetDefaultProviderRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        let asked = request.into_inner();
        one(self.index.default_provider(&Gvk::new(asked.group, asked.version, asked.kind)))
    }

    async fn list_bundles(
        &self,
        _: Request<proto::ListBundlesRequest>,
    ) -> Result<Response<Self::ListBundlesStream>, Status> {
        let index = Arc::clone(&self.index);
        let bundles = (0..index.len())
            .filter_map(move |place| index.listed(place).map_err(status).transpose());
        self.streams.open(bundles).map(Response::new)
    }
}

impl RegistryService {
    fn rows<T: Send + 'static>(
        &self,
        answer: Result<Vec<T>, QueryError>,
    ) -> Result<Response<Answers<T>>, Status> {
        self.all(answer.map_err(status)?)
    }

    fn all<T: Send + 'static>(&self, answers: Vec<T>) -> Result<Response<Answers<T>>, Status> {
        self.streams.open(answers.into_iter().map(Ok)).map(Response::new)
    }
}

fn one<T>(answer: Result<T, QueryError>) -> Result<Response<T>, Status> {
    answer.map(Response::new).map_err(status)
}

/// Questions without an answer have the code Unknown, as with `opm`.
pub(super) fn status(error: QueryError) -> Status {
    match error {
        QueryError::Unreadable(_) => Status::data_loss(error.to_string()),
        _ => Status::unknown(error.to_string()),
    }
}
