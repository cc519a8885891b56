//! A connected client and its calls.

use std::sync::Arc;

use olm_types::bundle::CatalogKey;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tonic::transport::{Channel, Endpoint};

use super::address::{Address, AddressError};
use super::link::Link;
use super::monitor::Monitor;
use super::options::ClientOptions;
use super::transport::Connector;
use super::whole::Whole;
use crate::connection::{ConnectionEvent, ConnectionStatus, RpcError};
use crate::registry::proto;
use crate::registry::proto::registry_client::RegistryClient as Calls;

/// Client of the server of one catalog. Dropping it closes the connection and ends its task.
#[derive(Debug)]
pub struct RegistryClient {
    pub(super) key: CatalogKey,
    pub(super) options: ClientOptions,
    channel: Channel,
    status: Arc<watch::Sender<ConnectionStatus>>,
    monitor: AbortHandle,
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
        let monitor = tokio::spawn(monitor.run()).abort_handle();
        Ok(Self { key, options, channel, status, monitor })
    }

    /// All calls of the protocol, without deadlines.
    pub fn calls(&self) -> Calls<Whole<Channel>> {
        let channel = Whole(self.channel.clone());
        Calls::new(channel).max_decoding_message_size(self.options.message_bytes)
    }

    /// One package.
    ///
    /// # Errors
    /// The server does not have it or cannot be asked in time.
    pub async fn package(&self, name: &str) -> Result<proto::Package, RpcError> {
        let request = proto::GetPackageRequest { name: name.to_owned() };
        self.in_time(async { self.calls().get_package(request).await }).await
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
        self.in_time(async { self.calls().get_bundle(request).await }).await
    }

    /// The state of the connection.
    pub(super) fn watch_status(&self) -> watch::Receiver<ConnectionStatus> {
        self.status.subscribe()
    }

    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<tonic::Response<T>, tonic::Status>>,
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
        self.monitor.abort();
        self.status.send_modify(|status| *status = status.after(&ConnectionEvent::Closed));
    }
}

/// A channel that connects on first use. A host that no URI can hold is still dialled; then only
/// the authority that the server is told is wrong.
fn channel(address: Address, options: &ClientOptions, link: Link) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .unwrap_or_else(|_| Endpoint::from_static("http://localhost"));
    endpoint.connect_with_connector_lazy(Connector {
        address,
        resolver: Arc::clone(&options.resolver),
        proxy: options.proxy.clone(),
        dial_timeout: options.dial_timeout,
        link,
    })
}
