//! HTTP with bounds: redirects, bytes, how long an answer takes, and who is connected to.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{ACCEPT, AUTHORIZATION, LOCATION, USER_AGENT};
use ::http::{Request, Response, Uri};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use olm_types::document::{Budget, json_as};
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use super::ImageError;
use super::clients::Clients;
use super::dial::{DialError, Network};

/// Most redirects; registries send clients to where layers are.
const REDIRECTS: usize = 5;
/// How long an answer may take to begin, redirects included, and then each [`STEP`] of it, or what
/// is left.
const SLOWEST: Duration = Duration::from_secs(30);
/// Bytes that have to come in that time; so a server that sends a byte now and then is left.
const STEP: usize = 1 << 20;
/// Most bytes of an error that are read.
const ERROR: usize = 8 << 10;
/// Longest error code of a registry.
const CODE: usize = 64;

/// A client. Clones share connections.
#[derive(Clone)]
pub(super) struct Http {
    clients: Clients,
    without_tls: BTreeSet<String>,
    trust: Trust,
}

/// Whose certificates are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those that an authority of the system has signed.
    Verified,
    /// All.
    AnyCertificate,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct RegistryRequest {
    url: String,
    accept: &'static str,
    /// The registry of the image, which may be one without TLS.
    home: String,
    authorization: Option<String>,
}

/// What comes back, its content not read yet.
pub(super) struct RegistryResponse {
    url: Uri,
    response: Response<Incoming>,
}

impl RegistryRequest {
    pub(super) fn get(url: String, accept: &'static str, home: &str) -> Self {
        Self { url, accept, home: home.to_owned(), authorization: None }
    }

    pub(super) fn authorized(self, value: &str) -> Self {
        Self { authorization: Some(value.to_owned()), ..self }
    }
}

impl Http {
    pub(super) fn new(
        without_tls: BTreeSet<String>,
        trust: Trust,
        network: Arc<dyn Network>,
    ) -> io::Result<Self> {
        Ok(Self { clients: Clients::new(trust, network)?, without_tls, trust })
    }

    /// Whether the registry is asked without TLS: it was named, or is on this machine and
    /// certificates would be looked at.
    pub(super) fn is_without_tls(&self, authority: &str) -> bool {
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        let host = host.trim_matches(['[', ']']);
        let local = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        local && self.trust == Trust::Verified || self.without_tls.contains(authority)
    }

    /// Asks, and follows redirects. Credentials go only to the host that they are for.
    pub(super) async fn ask(
        &self,
        question: RegistryRequest,
    ) -> Result<RegistryResponse, ImageError> {
        let mut url = self.checked(&question.url, &question.home)?;
        let mut authorization = question.authorization;
        let deadline = Instant::now() + SLOWEST;
        for _ in 0..=REDIRECTS {
            let (home, accept) = (&question.home, question.accept);
            let answer = self.once(&url, home, accept, authorization.as_deref());
            let answer = timeout_at(deadline, answer).await.map_err(|_| slow(&url))??;
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
        home: &str,
        accept: &str,
        authorization: Option<&str>,
    ) -> Result<RegistryResponse, ImageError> {
        let request = Request::get(url.clone()).header(ACCEPT, accept).header(USER_AGENT, "olm-rs");
        let request = match authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        };
        let request =
            request.body(Empty::new()).map_err(|error| malformed(url, &error.to_string()))?;
        let client = self.clients.of(home).await.map_err(|error| unreachable(url, &error))?;
        let response = client.request(request).await;
        let response = response.map_err(|error| unreachable(url, &error))?;
        Ok(RegistryResponse { url: url.clone(), response })
    }

    /// An address that may be asked: over TLS, or without where that is known to be right. What
    /// listens on this machine is nothing that a registry may refer to, unless it does so itself.
    fn checked(&self, url: &str, home: &str) -> Result<Uri, ImageError> {
        let parsed: Uri = url.parse().map_err(|_| ImageError::Malformed {
            what: format!("a reference of the registry {home}"),
            why: "it is no URL".to_owned(),
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

impl RegistryResponse {
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

    /// The error that this answer is. Of its content only a registry's error code is repeated: the
    /// server may be one that only this process can ask.
    pub(super) async fn failed(self) -> ImageError {
        let (url, code) = (shown(&self.url), self.code());
        match self.read(ERROR).await {
            Ok((bytes, _)) => ImageError::Status { url, code, error: error_code(&bytes) },
            Err(error) => error,
        }
    }

    /// At most `limit` bytes, and whether that is all.
    async fn read(self, limit: usize) -> Result<(Vec<u8>, bool), ImageError> {
        let (url, mut body) = (self.url, self.response.into_body());
        let mut bytes = Vec::new();
        let (mut step, mut deadline) = (0, Instant::now() + SLOWEST);
        loop {
            let frame = timeout_at(deadline, body.frame()).await.map_err(|_| slow(&url))?;
            let Some(frame) = frame else { return Ok((bytes, true)) };
            let frame = frame.map_err(|error| unreachable(&url, &error))?;
            let Ok(data) = frame.into_data() else { continue };
            step += data.len();
            if step >= STEP {
                (step, deadline) = (0, Instant::now() + SLOWEST);
            }
            let free = limit.saturating_sub(bytes.len());
            bytes.extend_from_slice(data.get(..free.min(data.len())).unwrap_or_default());
            if data.len() > free {
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

/// The first error code in an answer (OCI distribution specification, error codes).
fn error_code(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Errors {
        errors: Vec<Code>,
    }
    #[derive(Deserialize)]
    struct Code {
        code: String,
    }
    let errors: Errors = json_as(answer, &Budget::PROPERTY).ok()?;
    let code = errors.errors.into_iter().next()?.code;
    let is_word = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (!code.is_empty() && code.len() <= CODE && code.bytes().all(is_word)).then_some(code)
}

/// A URL without its query, which may hold a secret.
fn shown(url: &Uri) -> String {
    format!("{}://{}{}", url.scheme_str().unwrap_or_default(), host(url), url.path())
}

fn malformed(url: &Uri, why: &str) -> ImageError {
    ImageError::Malformed { what: shown(url), why: why.to_owned() }
}

fn slow(url: &Uri) -> ImageError {
    ImageError::Slow { host: host(url), after: SLOWEST }
}

/// With what is behind the error, which says more than the error.
fn unreachable(url: &Uri, error: &(dyn std::error::Error + 'static)) -> ImageError {
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    if chain.any(|error| matches!(error.downcast_ref(), Some(DialError::NotPublic))) {
        return ImageError::NotPublic { host: host(url) };
    }
    let mut why = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        why = format!("{why}: {cause}");
        source = cause.source();
    }
    ImageError::Unreachable { host: host(url), why }
}
