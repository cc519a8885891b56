//! Other ways to a server than TCP, such as a port-forward.

use std::fmt::Debug;
use std::io;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Opens connections to the one server of a client, in place of TCP.
#[async_trait]
pub trait Dial: Debug + Send + Sync {
    /// A new connection. It is closed when it is dropped.
    ///
    /// # Errors
    /// The server is out of reach.
    async fn dial(&self) -> io::Result<Box<dyn Stream>>;
}
