//! A connected client and its calls.

use std::sync::Arc;

use olm_tasks::{Pauses, Restart, Task, restarted};
use olm_types::bundle::CatalogKey;
use tokio::sync::watch;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

use super::ClientOptions;
use super::address::{Address, AddressError};
use super::complete::CompleteResponses;
use super::counted::Counted;
use super::link::Link;
use super::monitor::Monitor;
use super::transport::Connector;
use crate::connection::{ConnectionEvent, ConnectionStatus, RpcError};
use crate::registry::proto;
use crate::registry::proto::registry_client::RegistryClient as Calls;

const GET_PACKAGE: &str = "/api.Registry/GetPackage";
const GET_BUNDLE: &str = "/api.Registry/GetBundle";
const LIST_BUNDLES: &str = "/api.Registry/ListBundles";

/// Client of the server of one catalog. Dropping it closes the connection and ends its task.
#[derive(Debug)]
pub struct RegistryClient {
    pub(super) key: CatalogKey,
    pub(super) options: ClientOptions,
    channel: Channel,
    status: Arc<watch::Sender<ConnectionStatus>>,
    monitor: Option<Task>,
}

impl RegistryClient {
    /// Begins to connect to `address` (`host:port`) and keeps connected. Needs a tokio runtime.
    ///
    /// # Errors
    /// The address has not the form `host:port`. That it cannot be reached is not an error here
    /// but a state.
    pub fn open(
        key: CatalogKey,
        address: &str,
        options: ClientOptions,
    ) -> Result<Self, AddressError> {
        let address = Address::parse(address)?;
        let link = Link::new();
        let channel = channel(address, &options, link.clone());
        let status = Arc::new(watch::Sender::new(ConnectionStatus::default()));
        let monitor = Monitor {
            channel: channel.clone(),
            link,
            options: options.clone(),
            status: Arc::clone(&status),
        };
        let task = format!("connection of catalog {key}");
        let (running, reporting) = (monitor.clone(), monitor);
        let start = move || running.clone().run();
        let report = move |restart: &Restart| reporting.failed(restart);
        let monitor = Some(restarted(&task, Pauses::default(), start, report));
        Ok(Self { key, options, channel, status, monitor })
    }

    /// All calls of the protocol, without deadlines, for programs that trust their server: what an
    /// answer takes in memory is not counted.
    pub fn calls(&self) -> Calls<CompleteResponses<Channel>> {
        let channel = CompleteResponses(self.channel.clone());
        Calls::new(channel).max_decoding_message_size(self.options.message_bytes)
    }

    /// One package.
    ///
    /// # Errors
    /// The server does not have it or cannot be asked in time.
    pub async fn package(&self, name: &str) -> Result<proto::Package, RpcError> {
        let request = Request::new(proto::GetPackageRequest { name: name.to_owned() });
        let codec = Counted::new(self.options.package_bytes);
        self.in_time(async { self.ready().await?.unary(request, path(GET_PACKAGE), codec).await })
            .await
    }

    /// One bundle of one channel.
    ///
    /// # Errors
    /// The server does not have it or cannot be asked in time.
    pub async fn get_bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<proto::Bundle, RpcError> {
        let request = proto::GetBundleRequest {
            pkg_name: package.to_owned(),
            channel_name: channel.to_owned(),
            csv_name: name.to_owned(),
        };
        let (request, codec) = (Request::new(request), Counted::new(self.options.bundle_bytes));
        self.in_time(async { self.ready().await?.unary(request, path(GET_BUNDLE), codec).await })
            .await
    }

    /// All bundles.
    pub(super) async fn list_bundles(&self) -> Result<Streaming<proto::Bundle>, Status> {
        let request = Request::new(proto::ListBundlesRequest {});
        let codec = Counted::new(self.options.bundle_bytes);
        let answer =
            self.ready().await?.server_streaming(request, path(LIST_BUNDLES), codec).await?;
        Ok(answer.into_inner())
    }

    /// The state of the connection.
    pub(super) fn watch_status(&self) -> watch::Receiver<ConnectionStatus> {
        self.status.subscribe()
    }

    /// What calls with a codec of their own are made with.
    async fn ready(&self) -> Result<Grpc<CompleteResponses<Channel>>, Status> {
        let mut calls = Grpc::new(CompleteResponses(self.channel.clone()))
            .max_decoding_message_size(self.options.message_bytes);
        let failed = |error| Status::unknown(format!("Service was not ready: {error}"));
        calls.ready().await.map_err(failed)?;
        Ok(calls)
    }

    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<tonic::Response<T>, Status>>,
    ) -> Result<T, RpcError> {
        let limit = self.options.call_timeout;
        match tokio::time::timeout(limit, call).await {
            Ok(answer) => Ok(answer?.into_inner()),
            Err(_) => Err(RpcError {
                code: tonic::Code::DeadlineExceeded,
                message: format!("no answer within {} s", limit.as_secs()),
            }),
        }
    }
}

impl Drop for RegistryClient {
    fn drop(&mut self) {
        self.monitor.take();
        self.status.send_modify(|status| *status = status.after(&ConnectionEvent::Closed));
    }
}

fn path(call: &'static str) -> PathAndQuery {
    PathAndQuery::from_static(call)
}

/// A channel that connects on first use. A host that no URI can hold is still dialled; then only
/// the authority that is sent to the server is wrong.
fn channel(address: Address, options: &ClientOptions, link: Link) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .unwrap_or_else(|_| Endpoint::from_static("http://localhost"));
    endpoint.connect_with_connector_lazy(Connector {
        address,
        resolver: Arc::clone(&options.resolver),
        proxy: options.proxy.clone(),
        dialer: options.dialer.clone(),
        dial_timeout: options.dial_timeout,
        link,
    })
}
