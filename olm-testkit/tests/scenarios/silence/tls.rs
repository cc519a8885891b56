//! The same at a port of metrics and probes with TLS: callers that begin no handshake, and callers that say nothing
//! after one.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures::future::join_all;
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::wait;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::silence;
use crate::rolling::FLAGS;

/// How long connections are renewed.
const ATTACK: Duration = Duration::from_secs(60);

/// Probes beside one generation of silent connections.
const PROBES: usize = 10;

/// What a probe may take: as long as a kubelet waits by default is a second; a machine that tests is slower.
const SOON: Duration = Duration::from_secs(3);

/// Whom the certificate is for.
const NAME: &str = "localhost";

/// A port with TLS, and what it takes to connect to it.
struct Port {
    address: SocketAddr,
    connector: TlsConnector,
}

/// Every probe is answered.
pub async fn over_tls(local: Arc<Local>, _: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let (flags, connector) = identity(folder.path())?;
    let code = local.take_operator(Operator::Olm)?.terminate()?;
    ensure!(code == 0, "olm-operator ended with {code}");
    let args = FLAGS.both.iter().map(|flag| (*flag).to_owned()).chain(flags).collect();
    let special =
        StartOptions { log: "olm-operator-tls".to_owned(), args, ..StartOptions::default() };
    let address = local.start_operator(Operator::Olm, special).await?.address();
    let attacked = attack(&Port { address, connector }).await;
    attacked.and(local.replace_operator(Operator::Olm).await)
}

async fn attack(port: &Port) -> Result<()> {
    port.until_ready().await?;
    let (begun, mut probes, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    while begun.elapsed() < ATTACK {
        let silent = silence(port.address).await;
        let idle = port.idle().await;
        ensure!(!idle.is_empty(), "no handshake is answered beside silent connections");
        for _ in 0..PROBES {
            let asked = Instant::now();
            let answer = timeout(SOON, port.probe()).await.context("a probe is not answered")??;
            ensure!(answer.starts_with("HTTP/1.1 200"), "a probe is answered {answer:?}");
            slowest = slowest.max(asked.elapsed());
            probes += 1;
        }
        drop((silent, idle));
    }
    println!("{probes} probes beside silent connections over TLS, the slowest within {slowest:?}");
    Ok(())
}

impl Port {
    async fn until_ready(&self) -> Result<()> {
        let deadline = Instant::now() + wait::TIMEOUT;
        loop {
            match self.probe().await {
                Ok(answer) if answer.starts_with("HTTP/1.1 200") => return Ok(()),
                answer if Instant::now() > deadline => {
                    bail!("olm-operator does not become ready: {answer:?}");
                }
                _ => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Connections of the Pod that say nothing after their handshake, as many as get so far.
    async fn idle(&self) -> Vec<TlsStream<TcpStream>> {
        let connect = |stream| timeout(SOON, self.handshake(stream));
        let connected = join_all(silence(self.address).await.into_iter().map(connect)).await;
        connected.into_iter().flatten().flatten().collect()
    }

    async fn handshake(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(NAME)?;
        Ok(self.connector.connect(name, stream).await?)
    }

    /// What is answered to a kubelet.
    async fn probe(&self) -> Result<String> {
        let stream = TcpStream::connect(self.address).await.context("no process answers")?;
        let mut stream = self.handshake(stream).await?;
        let request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// Flags that give the port a certificate, and a client that trusts it.
fn identity(folder: &Path) -> Result<([String; 2], TlsConnector)> {
    let key = KeyPair::generate().context("cannot make a key")?;
    let names = CertificateParams::new([NAME.to_owned()]).context("bad names")?;
    let certificate = names.self_signed(&key).context("cannot sign a certificate")?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {name}"))?;
        Ok::<_, anyhow::Error>(path.display().to_string())
    };
    let cert = format!("--tls-cert={}", write("tls.crt", certificate.pem())?);
    let key = format!("--tls-key={}", write("tls.key", key.serialize_pem())?);
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone())?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(([cert, key], TlsConnector::from(Arc::new(config))))
}
