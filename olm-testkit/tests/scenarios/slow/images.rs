//! An image registry that sends one byte a second.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Between two bytes.
const PAUSE: Duration = Duration::from_secs(1);
/// The head of every answer, which comes at once.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";

/// Such a registry, until it is dropped.
pub struct DrippingRegistry {
    /// `HOST:PORT`, plain HTTP.
    pub address: String,
    clients: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl DrippingRegistry {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let address = listener.local_addr()?.to_string();
        let (count, clients) = watch::channel(0);
        let count = Arc::new(count);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let count = Arc::clone(&count);
                tokio::spawn(async move {
                    count.send_modify(|clients| *clients += 1);
                    // The client may leave at any time.
                    let _ = drip(stream).await;
                    count.send_modify(|clients| *clients -= 1);
                });
            }
        });
        Ok(Self { address, clients, task })
    }

    /// How many clients are kept waiting now.
    pub fn held(&self) -> usize {
        *self.clients.borrow()
    }

    /// Waits until so many clients are kept waiting.
    pub async fn until_held(&self, clients: usize) -> Result<()> {
        let mut held = self.clients.clone();
        let enough = held.wait_for(|held| *held >= clients);
        let waited = tokio::time::timeout(olm_testkit::wait::PATIENCE, enough).await;
        waited.context("no image is asked for")?.context("the registry ended").map(drop)
    }
}

impl Drop for DrippingRegistry {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn drip(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = [0; 4_096];
    let _read = stream.read(&mut request).await?;
    stream.write_all(HEAD).await?;
    loop {
        stream.write_all(b" ").await?;
        tokio::time::sleep(PAUSE).await;
    }
}
