//! HTTP with bounds: redirects, bytes, and how long nothing comes.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use ::http::header::{ACCEPT, AUTHORIZATION, LOCATION, USER_AGENT};
use ::http::{Request, Response, Uri};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

use super::{ImageError, trust};

/// Most redirects; registries send clients to where layers are.
const REDIRECTS: usize = 5;
/// How long nothing may come.
const SILENCE: Duration = Duration::from_secs(30);
/// Most bytes of an error's text that are read, and repeated.
const ERROR: usize = 2 << 10;

/// A client. Clones share connections.
#[derive(Clone)]
pub(super) struct Http {
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    without_tls: BTreeSet<String>,
    trust: Trust,
}

/// Whose certificates are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those that an authority of the system has signed.
    Verified,
    /// All.
    Anybody,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct Question {
    url: String,
    accept: &'static str,
    /// The registry of the image, which may be one without TLS.
    home: String,
    authorization: Option<String>,
}

/// What comes back, its content not read yet.
pub(super) struct Answer {
    url: Uri,
    response: Response<Incoming>,
}

impl Question {
    pub(super) fn get(url: String, accept: &'static str, home: &str) -> Self {
        Self { url, accept, home: home.to_owned(), authorization: None }
    }

    pub(super) fn authorized(self, value: &str) -> Self {
        Self { authorization: Some(value.to_owned()), ..self }
    }
}

impl Http {
    pub(super) fn new(without_tls: BTreeSet<String>, trust: Trust) -> io::Result<Self> {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let builder = HttpsConnectorBuilder::new();
        let builder = match trust {
            Trust::Verified => builder.with_provider_and_native_roots(provider)?,
            Trust::Anybody => builder.with_tls_config(trust::unverified(provider)?),
        };
        let connector = builder.https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { client, without_tls, trust })
    }

    /// Whether the registry is asked without TLS: it was named, or is on this machine and
    /// certificates would be looked at.
    pub(super) fn is_without_tls(&self, authority: &str) -> bool {
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        let host = host.trim_matches(['[', ']']);
        let local = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        local && self.trust == Trust::Verified || self.without_tls.contains(authority)
    }

    /// Asks, and follows redirects. Credentials go to nobody but whom they were meant for.
    pub(super) async fn ask(&self, question: Question) -> Result<Answer, ImageError> {
        let mut url = self.checked(&question.url, &question.home)?;
        let mut authorization = question.authorization;
        for _ in 0..=REDIRECTS {
            let answer = self.once(&url, question.accept, authorization.as_deref()).await?;
            if !answer.response.status().is_redirection() {
                return Ok(answer);
            }
            let next = resolved(&url, answer.header(LOCATION.as_str()));
            let next = self.checked(&next, &question.home)?;
            if next.authority() != url.authority() || next.scheme() != url.scheme() {
                authorization = None;
            }
            url = next;
        }
        Err(malformed(&url, &format!("more than {REDIRECTS} redirects")))
    }

    async fn once(
        &self,
        url: &Uri,
        accept: &str,
        authorization: Option<&str>,
    ) -> Result<Answer, ImageError> {
        let request = Request::get(url.clone()).header(ACCEPT, accept).header(USER_AGENT, "olm-rs");
        let request = match authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        };
        let request =
            request.body(Empty::new()).map_err(|error| malformed(url, &error.to_string()))?;
        match timeout(SILENCE, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(Answer { url: url.clone(), response }),
            Ok(Err(error)) => Err(unreachable(url, &error)),
            Err(_) => Err(silent(url)),
        }
    }

    /// An address that may be asked: over TLS, or without where that is known to be right. What
    /// listens on this machine is nothing that a registry may refer to, unless it does so itself.
    fn checked(&self, url: &str, home: &str) -> Result<Uri, ImageError> {
        let parsed: Uri = url.parse().map_err(|_| ImageError::Malformed {
            what: format!("the address {url:?}"),
            why: "a registry refers to it, and it is none".to_owned(),
        })?;
        let authority = parsed.authority().map(|authority| authority.as_str()).unwrap_or_default();
        match parsed.scheme_str() {
            Some("https") => Ok(parsed),
            Some("http") if authority == home && self.is_without_tls(home) => Ok(parsed),
            Some("http") if self.without_tls.contains(authority) => Ok(parsed),
            _ => Err(malformed(&parsed, "a registry refers to it, and it is not asked over TLS")),
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("without_tls", &self.without_tls).finish_non_exhaustive()
    }
}

impl Answer {
    pub(super) fn code(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// The content, which is about `what`, if it is not longer than `limit`.
    pub(super) async fn bytes(self, what: &str, limit: u64) -> Result<Vec<u8>, ImageError> {
        let too_much = || ImageError::TooMuch { what: what.to_owned(), limit, unit: "bytes" };
        let (bytes, whole) = self.read(usize::try_from(limit).unwrap_or(usize::MAX)).await?;
        if whole { Ok(bytes) } else { Err(too_much()) }
    }

    /// The error that this answer is.
    pub(super) async fn failed(self) -> ImageError {
        let (url, code) = (self.url.to_string(), self.code());
        match self.read(ERROR).await {
            Ok((bytes, _)) => {
                let text = String::from_utf8_lossy(&bytes);
                let why = text.split_whitespace().collect::<Vec<_>>().join(" ");
                ImageError::Status { url, code, why }
            }
            Err(error) => error,
        }
    }

    /// At most `limit` bytes, and whether that is all.
    async fn read(self, limit: usize) -> Result<(Vec<u8>, bool), ImageError> {
        let (url, mut body) = (self.url, self.response.into_body());
        let mut bytes = Vec::new();
        loop {
            let frame = timeout(SILENCE, body.frame()).await.map_err(|_| silent(&url))?;
            let Some(frame) = frame else { return Ok((bytes, true)) };
            let frame = frame.map_err(|error| unreachable(&url, &error))?;
            let Ok(data) = frame.into_data() else { continue };
            let room = limit.saturating_sub(bytes.len());
            bytes.extend_from_slice(data.get(..room.min(data.len())).unwrap_or_default());
            if data.len() > room {
                return Ok((bytes, false));
            }
        }
    }
}

/// A `Location`, which may leave out what is the same.
fn resolved(url: &Uri, location: Option<&str>) -> String {
    let location = location.unwrap_or_default();
    if !location.starts_with('/') || location.starts_with("//") {
        return location.to_owned();
    }
    let (scheme, authority) = (url.scheme_str().unwrap_or_default(), host(url));
    format!("{scheme}://{authority}{location}")
}

fn host(url: &Uri) -> String {
    url.authority().map(ToString::to_string).unwrap_or_default()
}

fn malformed(url: &Uri, why: &str) -> ImageError {
    ImageError::Malformed { what: url.to_string(), why: why.to_owned() }
}

fn silent(url: &Uri) -> ImageError {
    ImageError::Silent { host: host(url), after: SILENCE }
}

/// With what is behind the error, which says more than the error.
fn unreachable(url: &Uri, error: &dyn std::error::Error) -> ImageError {
    let mut why = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        why = format!("{why}: {cause}");
        source = cause.source();
    }
    ImageError::Unreachable { host: host(url), why }
}
