//! Servers and clients on real sockets of this machine, and the programs of this crate.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use olm_catalog::connection::{CatalogConnection, ConnectionState, ConnectionStatus};
use olm_catalog::fbc::ReadLimits;
use olm_catalog::index::Index;
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_catalog::registry::server::{ServerOptions, serve};
use olm_types::bundle::CatalogKey;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longest wait for anything; far more than it takes.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// A program of this crate, `olm-registry` or `olm-copy`.
#[cfg(any(feature = "server", feature = "copy"))]
pub fn built(program: &str) -> PathBuf {
    olm_testkit::built_programs().unwrap().join(program)
}

/// An address where nothing listens, kept from other tests: a server may listen on it, more than
/// once, as long as this lives.
pub struct ReservedAddress {
    pub address: SocketAddr,
    _bound: TcpSocket,
}

impl ReservedAddress {
    pub fn reserve() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        // On every address, as some servers listen: a port that is free on one may be taken on another.
        socket.bind("0.0.0.0:0".parse().unwrap()).unwrap();
        let port = socket.local_addr().unwrap().port();
        Self { address: SocketAddr::from(([127, 0, 0, 1], port)), _bound: socket }
    }
}

/// A server in this process.
pub struct Server {
    pub address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves a catalog of `tests/catalogs` on a free port.
    pub async fn start(catalog: &str) -> Self {
        Self::serve(&catalog_folder(catalog), "127.0.0.1:0".parse().unwrap()).await
    }

    pub async fn serve(folder: &Path, address: SocketAddr) -> Self {
        let index = Index::build(folder, &ReadLimits::default(), None).unwrap();
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let index = Arc::new(index);
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            serve(listener, index, ServerOptions::default(), stopped).await.unwrap();
        });
        Self { address, stop, task }
    }

    /// Ends it as SIGTERM would, and waits for the end.
    pub async fn stop(mut self) {
        self.stop.cancel();
        tokio::time::timeout(TIMEOUT, &mut self.task).await.expect("drained").unwrap();
    }

    /// Ends it as a crash would, and waits until it is gone.
    pub async fn crash(mut self) {
        self.task.abort();
        let ended = tokio::time::timeout(TIMEOUT, &mut self.task).await.expect("in time");
        assert!(ended.unwrap_err().is_cancelled());
    }

    pub fn client(&self) -> RegistryClient {
        client(self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub fn catalog_folder(name: &str) -> PathBuf {
    Path::new("tests/catalogs").join(name)
}

pub fn client(address: SocketAddr) -> RegistryClient {
    let options = ClientOptions {
        first_retry: Duration::from_millis(10),
        longest_retry: Duration::from_millis(50),
        ..ClientOptions::default()
    };
    RegistryClient::open(CatalogKey::new("olm", "test"), &address.to_string(), options).unwrap()
}

/// Waits until the state is reached; gives the status in which it was.
pub async fn reach(client: &RegistryClient, state: ConnectionState) -> ConnectionStatus {
    reach_on(&mut client.status(), |status| status.state == state).await
}

pub async fn reach_on(
    statuses: &mut watch::Receiver<ConnectionStatus>,
    wanted: impl FnMut(&ConnectionStatus) -> bool,
) -> ConnectionStatus {
    let reached = tokio::time::timeout(TIMEOUT, statuses.wait_for(wanted)).await;
    reached.expect("in time").expect("a live client").clone()
}
