//! An image registry that sends one byte a second.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::waiting::Waiting;

/// Between two bytes.
const PAUSE: Duration = Duration::from_secs(1);
/// The head of every answer, which comes at once.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";

/// Such a registry, until it is dropped.
pub struct DrippingRegistry {
    /// `HOST:PORT`, plain HTTP.
    pub address: String,
    /// The clients that are kept waiting.
    pub waiting: Waiting,
    task: JoinHandle<()>,
}

impl DrippingRegistry {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let address = listener.local_addr()?.to_string();
        let waiting = Waiting::default();
        let all = waiting.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = all.keep();
                tokio::spawn(async move {
                    // The client may leave at any time.
                    let _ = send_slowly(stream).await;
                    drop(kept);
                });
            }
        });
        Ok(Self { address, waiting, task })
    }
}

impl Drop for DrippingRegistry {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn send_slowly(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = [0; 4_096];
    let _read = stream.read(&mut request).await?;
    stream.write_all(HEAD).await?;
    loop {
        stream.write_all(b" ").await?;
        tokio::time::sleep(PAUSE).await;
    }
}
