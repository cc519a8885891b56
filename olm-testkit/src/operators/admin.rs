//! Where an operator answers questions about itself.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::wait::TIMEOUT;

/// How often an operator that starts is asked whether it is ready.
const ASK: Duration = Duration::from_millis(50);

/// What an answer may take.
const ANSWER: Duration = Duration::from_secs(5);

/// Where an operator serves health, readiness and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admin {
    address: SocketAddr,
}

impl Admin {
    /// An operator that another program started.
    pub fn at(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Where it listens.
    pub fn address(self) -> SocketAddr {
        self.address
    }

    /// Waits until the operator has read everything that it watches.
    pub async fn until_ready(self) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        while !self.is_ready().await {
            if Instant::now() > deadline {
                bail!("no operator is ready at {} after {TIMEOUT:?}", self.address);
            }
            sleep(ASK).await;
        }
        Ok(())
    }

    /// Whether the operator has read everything that it watches.
    pub async fn is_ready(self) -> bool {
        matches!(self.get("/readyz").await, Ok((200, _)))
    }

    /// The metrics in Prometheus' text format.
    pub async fn metrics(self) -> Result<String> {
        match self.get("/metrics").await? {
            (200, text) => Ok(text),
            (code, text) => bail!("{} answers /metrics with {code}: {text}", self.address),
        }
    }

    /// What the operator says about its state, as JSON.
    pub async fn state(self) -> Result<String> {
        match self.get("/debug/state").await? {
            (200, text) => Ok(text),
            (code, text) => bail!("{} answers /debug/state with {code}: {text}", self.address),
        }
    }

    /// Waits until the metrics satisfy a condition, and returns them.
    ///
    /// `what` completes the sentence "waited for the metrics to …".
    pub async fn until_metrics(
        self,
        what: &str,
        condition: impl Fn(&str) -> bool,
    ) -> Result<String> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let text = self.metrics().await?;
            if condition(&text) {
                return Ok(text);
            }
            if Instant::now() > deadline {
                bail!("waited {TIMEOUT:?} for the metrics to {what}; they are:\n{text}");
            }
            sleep(ASK).await;
        }
    }

    /// Status code and body.
    async fn get(self, path: &str) -> Result<(u16, String)> {
        let answer = timeout(ANSWER, self.ask(path)).await;
        let answer = answer.with_context(|| format!("{} is silent", self.address))??;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Ok((code.context("the answer is no HTTP")?, body.to_owned()))
    }

    async fn ask(self, path: &str) -> Result<String> {
        let connected = TcpStream::connect(self.address).await;
        let mut stream =
            connected.with_context(|| format!("no process answers at {}", self.address))?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        String::from_utf8(answer).context("the answer is no text")
    }
}
