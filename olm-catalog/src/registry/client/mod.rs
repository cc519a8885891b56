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
mod counted;
mod link;
mod load;
mod monitor;
mod options;
mod proxy;
mod resolve;
mod transport;
mod whole;

pub use address::{Address, AddressError};
pub use calls::RegistryClient;
pub use options::ClientOptions;
pub use proxy::Proxy;
pub use resolve::{Resolve, SystemResolver};
pub use whole::Whole;
