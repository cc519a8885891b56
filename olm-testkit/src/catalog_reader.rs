//! A client that reads a catalog while something happens to what serves it.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::operators::{Binaries, free_port};
use crate::process::Running;
use crate::wait;

/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// The client, a process of its own.
#[derive(Debug)]
pub struct Reader {
    running: Running,
    port: u16,
    begun: Reads,
}

/// What it says of itself.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Reads {
    /// All.
    pub reads: u64,
    /// Those without an answer.
    pub failed: u64,
    /// Connections that were refused; of several addresses another one was tried.
    pub refused: u64,
}

impl Reader {
    /// Starts one that reads at these addresses in turn, and waits until it has read.
    ///
    /// # Errors
    /// The program cannot be started, or reads nothing.
    pub async fn start(binaries: &Binaries, name: &str, from: &[SocketAddr]) -> Result<Self> {
        let port = free_port()?;
        let from: Vec<String> = from.iter().map(SocketAddr::to_string).collect();
        let args = ["read", "--port", &port.to_string(), "--from", &from.join(",")];
        let running = binaries.workload(name, args.map(str::to_owned).into())?;
        let mut reader = Self { running, port, begun: Reads::default() };
        reader.begun = wait::until_ok("reads a catalog", || async {
            let said = reader.said().await?;
            ensure!(said.reads > said.failed, "it read nothing");
            anyhow::Ok(said)
        })
        .await?;
        Ok(reader)
    }

    /// What happened since it began; ends it.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn end(self) -> Result<Reads> {
        let (all, begun) = (self.said().await?, &self.begun);
        self.running.stop();
        Ok(Reads {
            reads: all.reads - begun.reads,
            failed: all.failed - begun.failed,
            refused: all.refused - begun.refused,
        })
    }

    async fn said(&self) -> Result<Reads> {
        let answer = timeout(ANSWER, ask(self.port)).await.context("no answer")??;
        let (_, body) = answer.split_once("\r\n\r\n").context("an answer without a body")?;
        serde_json::from_str(body).context("the reader says something else")
    }
}

async fn ask(port: u16) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: reader\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
