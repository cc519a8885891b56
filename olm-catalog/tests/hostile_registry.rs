//! Registry servers that are up to no good: what they send is bounded in time and bytes, and said.

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use olm_catalog::connection::{CatalogConnection, LoadError};
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_catalog::registry::proto;
use olm_catalog::registry::proto::registry_server::{Registry, RegistryServer};
use olm_catalog::snapshot::{CatalogSnapshot, LimitExceeded, SnapshotLimits};
use olm_types::bundle::CatalogKey;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, async_trait};

type ResponseStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// What a server sends when its bundles are listed.
#[derive(Clone, Copy, Debug)]
enum Hostility {
    /// One bundle after the other, each with another name.
    Endless,
    /// The same, and they cannot be used.
    EndlessRubbish,
    /// Nothing, for ever.
    Silent,
    /// One bundle larger than any message may be.
    Huge,
    /// One bundle with this many empty `providedApis`, two bytes each.
    EmptyApis(usize),
    /// Bundles that skip a thousand others each, which have no name.
    Skips,
    /// Bundles with the same hundred `providedApis`, which are kept once, and indexed for each.
    SameApis,
    /// One bundle of each of 500 packages, and a thousand channels of the same name in each of them.
    Channels,
    /// One bundle in each of 30,000 channels, and a package with them all.
    ManyChannels,
    /// As many bundles as there may be, without anything.
    Most,
}

/// A channel that says nothing but its name.
fn channel(name: &str) -> proto::Channel {
    proto::Channel { name: name.to_owned(), ..proto::Channel::default() }
}

#[async_trait]
impl Registry for Hostility {
    type ListPackagesStream = ResponseStream<proto::PackageName>;
    type GetChannelEntriesThatReplaceStream = ResponseStream<proto::ChannelEntry>;
    type GetChannelEntriesThatProvideStream = ResponseStream<proto::ChannelEntry>;
    type GetLatestChannelEntriesThatProvideStream = ResponseStream<proto::ChannelEntry>;
    type ListBundlesStream = ResponseStream<proto::Bundle>;

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
            Self::EmptyApis(count) => {
                let provided_apis = vec![proto::GroupVersionKind::default(); *count];
                let bundle = proto::Bundle { provided_apis, ..proto::Bundle::default() };
                stream::iter([Ok(bundle)]).boxed()
            }
            Self::Skips => {
                let skips = |bundle| proto::Bundle { skips: vec![String::new(); 1_000], ..bundle };
                stream::iter(bundles.map(skips).map(Ok)).boxed()
            }
            Self::SameApis => {
                let provided_apis = vec![proto::GroupVersionKind::default(); 100];
                let apis =
                    move |bundle| proto::Bundle { provided_apis: provided_apis.clone(), ..bundle };
                stream::iter(bundles.map(apis).map(Ok)).boxed()
            }
            Self::Channels => {
                let packages = bundles.take(500).map(|bundle| proto::Bundle {
                    package_name: bundle.csv_name.clone(),
                    ..bundle
                });
                stream::iter(packages.map(Ok)).boxed()
            }
            Self::ManyChannels => {
                let channels = bundles.take(15_000).map(|bundle| proto::Bundle {
                    channel_name: bundle.csv_name.clone(),
                    ..bundle
                });
                stream::iter(channels.map(Ok)).boxed()
            }
            Self::Most => stream::iter(bundles.take(65_536).map(Ok)).boxed(),
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
        let channels = match self {
            Self::Channels => vec![channel("stable"); 1_000],
            Self::ManyChannels => (0..15_000).map(|it| channel(&format!("a.v{it}"))).collect(),
            _ => vec![channel("stable")],
        };
        Ok(Response::new(proto::Package { channels, ..proto::Package::default() }))
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
    loaded(hostility, options).await.unwrap_err()
}

async fn loaded(
    hostility: Hostility,
    options: ClientOptions,
) -> Result<CatalogSnapshot, LoadError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = tonic::transport::Server::builder()
        .add_service(RegistryServer::new(hostility))
        .serve_with_incoming(TcpIncoming::from(listener));
    let server = tokio::spawn(server);
    let client = RegistryClient::open(CatalogKey::new("a", "b"), &address, options).unwrap();
    let loaded = client.load().await;
    server.abort();
    loaded
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
    let expected = "error encountered while listing bundles: the catalog has more than 65536 channel \
        entries: serve fewer bundles, or split the catalog";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_server_that_sends_nothing_is_given_up() {
    let limit = Duration::from_millis(50);
    let options = ClientOptions { load_timeout: limit, ..ClientOptions::default() };
    assert_eq!(load(Hostility::Silent, options).await, LoadError::Deadline(limit));
}

/// Long before the time for the whole catalog is over.
#[tokio::test]
async fn a_server_that_falls_silent_is_given_up() {
    let load_silence = Duration::from_millis(50);
    let options = ClientOptions { load_silence, ..ClientOptions::default() };
    let error = load(Hostility::Silent, options).await.to_string();
    let expected = "error encountered while listing bundles: rpc error: code = DeadlineExceeded";
    assert!(error.starts_with(expected), "{error}");
}

#[tokio::test]
async fn a_message_beyond_the_limit_is_not_read() {
    let options = ClientOptions { message_bytes: 1_024, ..ClientOptions::default() };
    let error = load(Hostility::Huge, options).await.to_string();
    assert!(error.contains("message length too large"), "{error}");
    assert_eq!(ClientOptions::default().message_bytes, 32 << 20, "v0 reads 4 MiB");
}

/// Empty elements are two bytes each on the wire, and a hundred times that in memory.
#[tokio::test]
async fn lists_are_counted_before_they_are_decoded() {
    let error = load(Hostility::EmptyApis(400_000), ClientOptions::default()).await.to_string();
    let expected = "a bundle takes 103200000 bytes in memory, with 400000 providedApis, more than \
                    67108864: split it, or leave out what nothing reads";
    assert!(error.contains(expected), "{error}");
    let snapshot = loaded(Hostility::EmptyApis(200_000), ClientOptions::default()).await.unwrap();
    assert_eq!(snapshot.entries().len(), 1);
}

/// How long a load may be silent here: the answers of this server take seconds to make on a busy machine,
/// and these tests are not about time.
const BUSY: Duration = Duration::from_secs(60);

fn keeping(kept_bytes: usize) -> ClientOptions {
    let snapshot = SnapshotLimits { kept_bytes, ..SnapshotLimits::default() };
    ClientOptions { snapshot, load_silence: BUSY, ..ClientOptions::default() }
}

#[tokio::test]
async fn what_is_kept_for_each_entry_is_counted() {
    let limit = 4 << 20;
    for hostility in [Hostility::Skips, Hostility::SameApis, Hostility::ManyChannels] {
        let error = load(hostility, keeping(limit)).await;
        assert_eq!(error, LoadError::TooLarge(LimitExceeded::KeptBytes(limit)), "{hostility:?}");
    }
}

/// The answers about packages are condensed one by one, and count as the bundles do.
#[tokio::test]
async fn answers_about_packages_count_for_the_load() {
    let transfer = |transfer_bytes| {
        let snapshot = SnapshotLimits { transfer_bytes, ..SnapshotLimits::default() };
        ClientOptions { snapshot, ..ClientOptions::default() }
    };
    let error = load(Hostility::Channels, transfer(100 << 20)).await;
    assert_eq!(error, LoadError::TooLarge(LimitExceeded::TransferBytes(100 << 20)));
    let snapshot = loaded(Hostility::Channels, transfer(120 << 20)).await.unwrap();
    assert_eq!(snapshot.packages().len(), 500);
    let small = ClientOptions { package_bytes: 10_000, ..ClientOptions::default() };
    let snapshot = loaded(Hostility::Channels, small).await.unwrap();
    let reason = &snapshot.skipped()[0].reason;
    assert!(reason.contains("a package takes "), "{reason}");
    assert_eq!(snapshot.skipped_count(), 500);
}

/// The most entries there may be fit into what a catalog may keep.
#[tokio::test]
async fn as_many_entries_as_there_may_be_are_accepted() {
    let snapshot = loaded(Hostility::Most, ClientOptions::default()).await.unwrap();
    assert_eq!(snapshot.entries().len(), 65_536);
    assert!(snapshot.bytes() > 65_536 * 100, "{}", snapshot.bytes());
}
