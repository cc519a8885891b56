//! One HTTP/1.1 request to a registry on this machine.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a registry may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a request with its body may take.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);

/// The longest answer that is read: a document of an image, or a few errors.
const MAX_RESPONSE: usize = 64 * 1024;

/// A registry that is spoken to without TLS.
#[derive(Clone, Debug)]
pub(super) struct Registry {
    address: String,
    host: HeaderValue,
}

/// An answer with its body read.
#[derive(Debug)]
pub(super) struct RegistryResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Bytes,
}

impl Registry {
    /// A registry at `HOST[:PORT]`; without a port it is 80.
    ///
    /// # Errors
    ///
    /// When the host is neither loopback nor an address of a private network: what leaves for the
    /// world needs TLS and a login, for which there are tools.
    pub(super) fn at(name: &str) -> Result<Self> {
        let host = HeaderValue::from_str(name).context("the name of the registry is not text")?;
        let authority: http::uri::Authority =
            name.parse().map_err(|_| anyhow!("{name:?} is not a registry like 127.0.0.1:5000"))?;
        if !is_near(authority.host()) {
            bail!(
                "pushes go without TLS and login, so only to loopback and private addresses, and \
                 {name} is neither; write the archive and copy it with `skopeo copy \
                 oci-archive:ARCHIVE docker://{name}/NAME:TAG` or `crane push ARCHIVE …`"
            );
        }
        let address = match authority.port() {
            Some(_) => name.to_owned(),
            None => format!("{name}:80"),
        };
        Ok(Self { address, host })
    }

    /// Sends one request over a connection of its own and reads the answer.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        header: Option<(HeaderName, &str)>,
        body: Bytes,
    ) -> Result<RegistryResponse> {
        let what = format!("{method} http://{}{path}", self.address);
        let mut request = Request::builder().method(method).uri(path).header(HOST, &self.host);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body)).with_context(|| what.clone())?;
        let answer = timeout(RESPONSE_TIMEOUT, self.exchange(request)).await;
        let late = || anyhow!("no answer within {} seconds", RESPONSE_TIMEOUT.as_secs());
        answer.unwrap_or_else(|_| Err(late())).context(what)
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<RegistryResponse> {
        let stream = self.connect().await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let answer = async {
            let answer = sender.send_request(request).await?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, MAX_RESPONSE).collect().await;
            let body = body.map_err(|error| anyhow!("the answer cannot be read: {error}"))?;
            Ok(RegistryResponse {
                status: parts.status,
                headers: parts.headers,
                body: body.to_bytes(),
            })
        };
        // The connection ends with its only request.
        let mut connection = std::pin::pin!(connection);
        let mut answer = std::pin::pin!(answer);
        tokio::select! {
            answer = &mut answer => answer,
            ended = &mut connection => match ended {
                Ok(()) => answer.await,
                Err(error) => Err(error).context("the connection broke"),
            },
        }
    }

    async fn connect(&self) -> Result<TcpStream> {
        let connected = match timeout(CONNECT, TcpStream::connect(&self.address)).await {
            Ok(connected) => connected.map_err(anyhow::Error::from),
            Err(_) => Err(anyhow!("no answer within {} seconds", CONNECT.as_secs())),
        };
        connected.with_context(|| {
            format!(
                "no registry is at {}: start it (`cargo xtask cluster up --real` brings one, \
                 Debian's package is docker-registry) or name another",
                self.address
            )
        })
    }
}

impl RegistryResponse {
    /// Fails, with what the registry says, unless it has one of the statuses.
    pub(super) fn expect(self, what: &str, wanted: &[StatusCode]) -> Result<Self> {
        if wanted.contains(&self.status) {
            return Ok(self);
        }
        let body = String::from_utf8_lossy(&self.body);
        let said = body.trim().chars().take(500).collect::<String>();
        let hint = match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                "; it wants a login, which pushes from here do not have"
            }
            StatusCode::NOT_FOUND => "; is it a registry of API version 2?",
            _ => "",
        };
        bail!("the registry answered {} to {what}{hint}: {said:?}", self.status)
    }

    /// What it says.
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// A header as text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Whether an address stays on this machine or in its private network.
fn is_near(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => host == "localhost",
    }
}
