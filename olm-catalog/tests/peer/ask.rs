//! Every call of both services, with answers as plain data.

use std::net::SocketAddr;

use futures::TryStreamExt;
use olm_catalog::registry::proto;
use proto::experimental_registry_client::ExperimentalRegistryClient;
use proto::registry_client::RegistryClient;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status, Streaming};

/// An answer, or code and message of a refusal.
pub type CallResult<T> = Result<T, (Code, String)>;

/// Largest answer that is read, in bytes.
const ANSWER: usize = 128 << 20;

/// An API that may be provided.
pub type Api = (String, String, String);

/// A client of one server.
#[derive(Clone)]
pub struct RegistryClients {
    registry: RegistryClient<Channel>,
    experimental: ExperimentalRegistryClient<Channel>,
}

impl RegistryClients {
    pub async fn connect(address: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        Self {
            registry: RegistryClient::new(channel.clone()).max_decoding_message_size(ANSWER),
            experimental: ExperimentalRegistryClient::new(channel),
        }
    }

    pub async fn packages(&mut self) -> CallResult<Vec<proto::PackageName>> {
        rows(self.registry.list_packages(proto::ListPackageRequest {}).await).await
    }

    pub async fn bundles(&mut self) -> CallResult<Vec<proto::Bundle>> {
        rows(self.registry.list_bundles(proto::ListBundlesRequest {}).await).await
    }

    pub async fn package(&mut self, name: &str) -> CallResult<proto::Package> {
        one(self.registry.get_package(proto::GetPackageRequest { name: name.into() }).await)
    }

    pub async fn bundle(
        &mut self,
        [package, channel, name]: [&str; 3],
    ) -> CallResult<proto::Bundle> {
        let request = proto::GetBundleRequest {
            pkg_name: package.into(),
            channel_name: channel.into(),
            csv_name: name.into(),
        };
        one(self.registry.get_bundle(request).await)
    }

    // Deprecated, and called by the package server of v0 all the same.
    #[allow(deprecated)]
    pub async fn head(&mut self, [package, channel]: [&str; 2]) -> CallResult<proto::Bundle> {
        let request = proto::GetBundleInChannelRequest {
            pkg_name: package.into(),
            channel_name: channel.into(),
        };
        one(self.registry.get_bundle_for_channel(request).await)
    }

    pub async fn that_replace(&mut self, name: &str) -> CallResult<Vec<proto::ChannelEntry>> {
        let request = proto::GetAllReplacementsRequest { csv_name: name.into() };
        rows(self.registry.get_channel_entries_that_replace(request).await).await
    }

    pub async fn replacement(
        &mut self,
        [package, channel, name]: [&str; 3],
    ) -> CallResult<proto::Bundle> {
        let request = proto::GetReplacementRequest {
            csv_name: name.into(),
            pkg_name: package.into(),
            channel_name: channel.into(),
        };
        one(self.registry.get_bundle_that_replaces(request).await)
    }

    pub async fn that_provide(&mut self, api: &Api) -> CallResult<Vec<proto::ChannelEntry>> {
        let (group, version, kind) = api.clone();
        let plural = String::new();
        let request = proto::GetAllProvidersRequest { group, version, kind, plural };
        rows(self.registry.get_channel_entries_that_provide(request).await).await
    }

    pub async fn heads_that_provide(&mut self, api: &Api) -> CallResult<Vec<proto::ChannelEntry>> {
        let (group, version, kind) = api.clone();
        let plural = String::new();
        let request = proto::GetLatestProvidersRequest { group, version, kind, plural };
        rows(self.registry.get_latest_channel_entries_that_provide(request).await).await
    }

    pub async fn default_provider(&mut self, api: &Api) -> CallResult<proto::Bundle> {
        let (group, version, kind) = api.clone();
        let plural = String::new();
        let request = proto::GetDefaultProviderRequest { group, version, kind, plural };
        one(self.registry.get_default_bundle_that_provides(request).await)
    }

    pub async fn metas(
        &mut self,
        schema: &str,
        package: &str,
        acknowledged: bool,
    ) -> CallResult<Vec<prost_types::Struct>> {
        let mut request = Request::new(proto::ExperimentalListPackageCustomSchemasRequest {
            schema: schema.into(),
            package_name: package.into(),
        });
        if acknowledged {
            let yes = "true".parse().unwrap();
            request.metadata_mut().insert("x-acknowledge-experimental", yes);
        }
        rows(self.experimental.experimental_list_package_custom_schemas(request).await).await
    }
}

fn one<T>(answer: Result<Response<T>, Status>) -> CallResult<T> {
    answer.map(Response::into_inner).map_err(|status| failure(&status))
}

async fn rows<T>(answer: Result<Response<Streaming<T>>, Status>) -> CallResult<Vec<T>> {
    match answer {
        Ok(stream) => stream.into_inner().try_collect().await.map_err(|status| failure(&status)),
        Err(status) => Err(failure(&status)),
    }
}

fn failure(status: &Status) -> (Code, String) {
    (status.code(), status.message().to_owned())
}
