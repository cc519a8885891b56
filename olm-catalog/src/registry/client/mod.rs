//! Client of a registry server that always knows whether the server is there.
//!
//! A gRPC channel hides its transport, so the client brings its own connector: every TCP
//! connection it opens reports when it ends. A lost server is therefore noticed at once, and a
//! server that was replaced behind the same address shows as a loss followed by READY. A health
//! check decides whether the server answers; while READY it is repeated only rarely, to find
//! peers that vanished without closing the connection.
//!
//! HTTP/2 keepalive pings are deliberately not used: Go's server, which serves most catalogs,
//! answers pings more often than every five minutes by closing the connection.

mod address;
mod backoff;
mod calls;
mod complete;
mod content;
mod counted;
mod dial;
mod link;
mod load;
mod monitor;
mod proxy;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use crate::snapshot::SnapshotLimits;

pub use address::{Address, AddressError, Resolve, SystemResolver};
pub use calls::RegistryClient;
pub use complete::CompleteResponses;
pub use content::{ContentAnswer, ask_for_content};
pub use dial::{Dial, Stream};
pub use proxy::Proxy;
#[cfg(feature = "pull")]
pub(crate) use proxy::ProxyServer;

/// How a client behaves. [`Default`] is right for production.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Longest time to open a TCP connection to one address.
    pub dial_timeout: Duration,
    /// Longest time for a health check, dialling included.
    pub check_timeout: Duration,
    /// Time between health checks while READY. Lost connections are noticed without them; they
    /// find peers that vanished silently, such as a Pod whose node lost its power.
    pub check_interval: Duration,
    /// First delay after a failed attempt.
    pub first_retry: Duration,
    /// Longest delay between attempts: how late a server that came back may be noticed.
    pub longest_retry: Duration,
    /// Longest time for a single answer.
    pub call_timeout: Duration,
    /// Longest time to load the whole catalog.
    pub load_timeout: Duration,
    /// Longest time between two bundles of the catalog.
    pub load_silence: Duration,
    /// Packages asked for at the same time while loading.
    pub parallel_calls: usize,
    /// Largest message that is accepted, in bytes. A bundle with its manifests is one message.
    pub message_bytes: usize,
    /// Most that one bundle may take in memory when it is decoded, in bytes.
    pub bundle_bytes: usize,
    /// The same of one package. Several are decoded at the same time.
    pub package_bytes: usize,
    /// Bounds of what is kept of a catalog.
    pub snapshot: SnapshotLimits,
    /// How host names become addresses.
    pub resolver: Arc<dyn Resolve>,
    /// The proxy through which addresses are reached; by default that of the environment.
    pub proxy: Option<Proxy>,
    /// Another way to the server than TCP; address and proxy do not matter then.
    pub dialer: Option<Arc<dyn Dial>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            dial_timeout: Duration::from_secs(5),
            check_timeout: Duration::from_secs(10),
            check_interval: Duration::from_secs(15),
            first_retry: Duration::from_millis(100),
            longest_retry: Duration::from_secs(1),
            call_timeout: Duration::from_secs(30),
            load_timeout: Duration::from_secs(60),
            load_silence: Duration::from_secs(15),
            parallel_calls: 8,
            message_bytes: 32 << 20,
            bundle_bytes: 64 << 20,
            package_bytes: 4 << 20,
            snapshot: SnapshotLimits::default(),
            resolver: Arc::new(SystemResolver),
            proxy: Proxy::from_environment(|name| std::env::var(name).ok()),
            dialer: None,
        }
    }
}
