//! Registry servers that are up to no good: what they send is bounded in time and bytes, and said.

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use olm_catalog::connection::{CatalogConnection, LoadError};
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_catalog::registry::proto;
use olm_catalog::registry::proto::registry_server::{Registry, RegistryServer};
use olm_catalog::snapshot::{LimitExceeded, SnapshotLimits};
use olm_types::bundle::CatalogKey;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, async_trait};

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// What a server sends when its bundles are listed.
#[derive(Clone, Copy, Debug)]
enum Hostility {
    /// One bundle after the other, each with another name.
    Endless,
    /// The same, and nobody can make anything of them.
    EndlessRubbish,
    /// Nothing, for ever.
    Silent,
    /// One bundle larger than any message may be.
    Huge,
}

#[async_trait]
impl Registry for Hostility {
    type ListPackagesStream = Answers<proto::PackageName>;
    type GetChannelEntriesThatReplaceStream = Answers<proto::ChannelEntry>;
    type GetChannelEntriesThatProvideStream = Answers<proto::ChannelEntry>;
    type GetLatestChannelEntriesThatProvideStream = Answers<proto::ChannelEntry>;
    type ListBundlesStream = Answers<proto::Bundle>;

    async fn list_bundles(
        &self,
        _: Request<proto::ListBundlesRequest>,
    ) -> Result<Response<Self::ListBundlesStream>, Status> {
        let bundles = (0_u64..).map(|number| proto::Bundle {
            csv_name: format!("a.v{number}"),
            package_name: "a".to_owned(),
            channel_name: "stable".to_owned(),
            ..proto::Bundle::default()
        });
        let rubbish = |bundle: proto::Bundle| proto::Bundle {
            dependencies: vec![proto::Dependency {
                r#type: "olm.gvk".to_owned(),
                value: "{".to_owned(),
            }],
            ..bundle
        };
        let huge = proto::Bundle { csv_json: "x".repeat(4_096), ..proto::Bundle::default() };
        Ok(Response::new(match self {
            Self::Endless => stream::iter(bundles.map(Ok)).boxed(),
            Self::EndlessRubbish => stream::iter(bundles.map(rubbish).map(Ok)).boxed(),
            Self::Silent => stream::pending().boxed(),
            Self::Huge => stream::iter([Ok(huge)]).boxed(),
        }))
    }

    async fn list_packages(
        &self,
        _: Request<proto::ListPackageRequest>,
    ) -> Result<Response<Self::ListPackagesStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_package(
        &self,
        _: Request<proto::GetPackageRequest>,
    ) -> Result<Response<proto::Package>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_bundle(
        &self,
        _: Request<proto::GetBundleRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_bundle_for_channel(
        &self,
        _: Request<proto::GetBundleInChannelRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_channel_entries_that_replace(
        &self,
        _: Request<proto::GetAllReplacementsRequest>,
    ) -> Result<Response<Self::GetChannelEntriesThatReplaceStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_bundle_that_replaces(
        &self,
        _: Request<proto::GetReplacementRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_channel_entries_that_provide(
        &self,
        _: Request<proto::GetAllProvidersRequest>,
    ) -> Result<Response<Self::GetChannelEntriesThatProvideStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_latest_channel_entries_that_provide(
        &self,
        _: Request<proto::GetLatestProvidersRequest>,
    ) -> Result<Response<Self::GetLatestChannelEntriesThatProvideStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_default_bundle_that_provides(
        &self,
        _: Request<proto::GetDefaultProviderRequest>,
    ) -> Result<Response<proto::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// What loading from such a server ends with.
async fn load(hostility: Hostility, options: ClientOptions) -> LoadError {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = tonic::transport::Server::builder()
        .add_service(RegistryServer::new(hostility))
        .serve_with_incoming(TcpIncoming::from(listener));
    let server = tokio::spawn(server);
    let client = RegistryClient::open(CatalogKey::new("a", "b"), &address, options).unwrap();
    let error = client.load().await.unwrap_err();
    server.abort();
    error
}

fn few() -> ClientOptions {
    let snapshot = SnapshotLimits { entries: 1_000, ..SnapshotLimits::default() };
    ClientOptions { snapshot, ..ClientOptions::default() }
}

#[tokio::test]
async fn an_endless_list_ends_at_the_limit() {
    let expected = LoadError::TooLarge(LimitExceeded::Entries(1_000));
    assert_eq!(load(Hostility::Endless, few()).await, expected);
    assert_eq!(load(Hostility::EndlessRubbish, few()).await, expected);
}

/// More than any published catalog has, and more than fits the default limit.
#[tokio::test]
async fn a_hundred_thousand_bundles_are_refused() {
    let error = load(Hostility::Endless, ClientOptions::default()).await;
    let expected =
        "error encountered while listing bundles: the catalog has more than 65536 channel entries";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_server_that_sends_nothing_is_given_up() {
    let limit = Duration::from_millis(50);
    let options = ClientOptions { load_timeout: limit, ..ClientOptions::default() };
    assert_eq!(load(Hostility::Silent, options).await, LoadError::Deadline(limit));
}

#[tokio::test]
async fn a_message_beyond_the_limit_is_not_read() {
    let options = ClientOptions { message_bytes: 1_024, ..ClientOptions::default() };
    let error = load(Hostility::Huge, options).await.to_string();
    assert!(error.contains("message length too large"), "{error}");
    assert_eq!(ClientOptions::default().message_bytes, 32 << 20, "v0 reads 4 MiB");
}
