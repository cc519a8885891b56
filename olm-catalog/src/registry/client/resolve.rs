//! How the host of an address becomes IP addresses.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;

use async_trait::async_trait;

use super::address::Address;

/// Resolves hosts. A controller outside the cluster, where no cluster DNS answers, resolves names
/// of Services itself.
#[async_trait]
pub trait Resolve: Debug + Send + Sync {
    /// Addresses in the order in which they should be tried.
    ///
    /// # Errors
    /// The name is unknown or cannot be asked for.
    async fn resolve(&self, address: &Address) -> io::Result<Vec<SocketAddr>>;
}

/// Asks the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, address: &Address) -> io::Result<Vec<SocketAddr>> {
        let port: u16 = address.port().parse().map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("port {:?} is not a number from 0 to 65535", address.port()),
            )
        })?;
        let host = if address.host().is_empty() { "localhost" } else { address.host() };
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}
