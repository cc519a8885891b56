//! A registry of images with faults: a proxy at an address that stays, in front of a real registry.

use std::io;
use std::time::Duration;

use anyhow::{Context, Result};
use olm_testkit::wait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Between two bytes of a layer that drips.
const PAUSE: Duration = Duration::from_secs(1);
/// With these bytes a layer begins: those of gzip.
const LAYER: [u8; 2] = [0x1f, 0x8b];

/// What is wrong with a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Nothing,
    /// Connections end without an answer.
    Away,
    /// It asks for a pause of a second.
    Limited,
    /// It answers with an error of its own.
    Broken,
    /// It redirects to itself without end.
    Circle,
    /// Layers come byte by byte, one a second.
    Drip,
    /// A byte of each layer is another.
    Forged,
    /// Connections end in the middle of a layer.
    Truncated,
    /// Layers lack their last byte, and answers say so.
    Short,
    /// Layers come when the fault is over.
    Held,
}

/// Such a registry, until it is dropped.
pub struct FaultyRegistry {
    address: String,
    fault: watch::Sender<Fault>,
    held: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl FaultyRegistry {
    /// Without a fault, in front of the registry at `upstream` (`HOST:PORT`, plain HTTP).
    pub async fn start(upstream: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let address = listener.local_addr()?.to_string();
        let (fault, faults) = watch::channel(Fault::Nothing);
        let (holds, held) = watch::channel(0);
        let upstream = upstream.to_owned();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let faults = faults.clone();
                let proxied = Proxied { client, upstream: upstream.clone(), faults };
                let holds = holds.clone();
                tokio::spawn(async move {
                    // The client may leave at any time.
                    let _ = proxied.serve(&holds).await;
                });
            }
        });
        Ok(Self { address, fault, held, task })
    }

    /// `HOST:PORT`, plain HTTP.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What is wrong from now on.
    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// Waits until a client waits for a layer that is held.
    pub async fn until_held(&self) -> Result<()> {
        let mut held = self.held.clone();
        let asked = timeout(wait::TIMEOUT, held.wait_for(|count| *count > 0)).await;
        asked.context("no client asks for a layer")?.map(drop).context("the registry has ended")
    }
}

impl Drop for FaultyRegistry {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request.
struct Proxied {
    client: TcpStream,
    upstream: String,
    faults: watch::Receiver<Fault>,
}

impl Proxied {
    async fn serve(mut self, holds: &watch::Sender<usize>) -> io::Result<()> {
        let request = head_of(&mut self.client).await?;
        let fault = *self.faults.borrow_and_update();
        let path = request.split(' ').nth(1).unwrap_or_default();
        let location = format!("Location: {path}\r\n");
        match fault {
            Fault::Away => return Ok(()),
            Fault::Limited => {
                return self.refuse("429 Too Many Requests", "Retry-After: 1\r\n").await;
            }
            Fault::Broken => return self.refuse("500 Internal Server Error", "").await,
            Fault::Circle => return self.refuse("307 Temporary Redirect", &location).await,
            _ => {}
        }
        let (head, body) = self.forward(&request).await?;
        if body.starts_with(&LAYER) {
            self.layer(fault, head, body, holds).await
        } else {
            self.send(&[head.as_bytes(), &body].concat()).await
        }
    }

    async fn layer(
        mut self,
        fault: Fault,
        mut head: String,
        mut body: Vec<u8>,
        holds: &watch::Sender<usize>,
    ) -> io::Result<()> {
        let length = body.len();
        match fault {
            Fault::Drip => return self.send_slowly(&head, &body).await,
            Fault::Forged => body.iter_mut().rev().take(1).for_each(|byte| *byte = !*byte),
            Fault::Truncated => body.truncate(length / 2),
            Fault::Short => {
                body.truncate(length - 1);
                let announced = |length: usize| format!("Content-Length: {length}\r\n");
                head = head.replace(&announced(length), &announced(length - 1));
            }
            Fault::Held => {
                holds.send_modify(|count| *count += 1);
                // When the registry ends, there is nothing to wait for.
                let _ = self.faults.wait_for(|fault| *fault != Fault::Held).await;
            }
            _ => {}
        }
        self.send(&[head.as_bytes(), &body].concat()).await
    }

    /// Until the client has enough of it, or the fault is over.
    async fn send_slowly(mut self, head: &str, body: &[u8]) -> io::Result<()> {
        self.client.write_all(head.as_bytes()).await?;
        for byte in body {
            self.client.write_all(&[*byte]).await?;
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = self.faults.changed() => return Ok(()),
            }
        }
        Ok(())
    }

    /// What the real registry answers: head and body.
    async fn forward(&self, request: &str) -> io::Result<(String, Vec<u8>)> {
        let mut upstream = TcpStream::connect(&self.upstream).await?;
        let request = format!("{}\r\nConnection: close\r\n\r\n", request.trim_end());
        upstream.write_all(request.as_bytes()).await?;
        let head = head_of(&mut upstream).await?;
        let mut body = Vec::new();
        upstream.read_to_end(&mut body).await?;
        Ok((head, body))
    }

    async fn refuse(self, status: &str, headers: &str) -> io::Result<()> {
        let head =
            format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: 0\r\n\r\n");
        self.send(head.as_bytes()).await
    }

    async fn send(mut self, bytes: &[u8]) -> io::Result<()> {
        self.client.write_all(bytes).await?;
        self.client.shutdown().await
    }
}

/// The head of a message, with the line that ends it.
async fn head_of(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    String::from_utf8(head).map_err(io::Error::other)
}
