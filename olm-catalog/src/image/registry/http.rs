//! HTTP with bounds: redirects, how long an answer takes to begin, who is connected to, and when a
//! registry that asked for a pause is asked again.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{ACCEPT, AUTHORIZATION, LOCATION, RETRY_AFTER, USER_AGENT};
use ::http::{Method, Request, Uri};
use arc_swap::ArcSwap;
use http_body_util::Empty;
use tokio::time::{Instant, timeout_at};

use super::ImageError;
use super::clients::{Clients, ClientsOptions};
use super::dial::DialError;
use super::pauses::Pauses;
use super::response::RegistryResponse;
use super::trust::Trust;

/// Most redirects; registries send clients to where layers are.
const REDIRECTS: usize = 5;
/// How long an answer may take to begin, redirects included, and then each mebibyte of it, or what
/// is left.
pub(super) const SLOWEST: Duration = Duration::from_secs(30);

/// A client. Clones share connections.
#[derive(Clone)]
pub(super) struct Http(Arc<Shared>);

struct Shared {
    clients: ArcSwap<Clients>,
    options: ClientsOptions,
    without_tls: BTreeSet<String>,
    pauses: Pauses,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct RegistryRequest {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) accept: &'static str,
    /// The registry of the image.
    pub(super) home: String,
    /// Whether that registry is asked without TLS.
    pub(super) without_tls: bool,
    /// As whom it is asked; nothing for anonymous callers.
    pub(super) user: Option<String>,
    pub(super) authorization: Option<String>,
}

impl Http {
    pub(super) fn new(
        without_tls: BTreeSet<String>,
        options: ClientsOptions,
        authorities: &[Vec<u8>],
    ) -> io::Result<Self> {
        let clients = ArcSwap::from_pointee(Clients::new(&options, authorities)?);
        let pauses = Pauses::default();
        Ok(Self(Arc::new(Shared { clients, options, without_tls, pauses })))
    }

    /// Connects anew from now on, and takes certificates that these authorities (PEM) signed, or
    /// those of the system as it is now.
    pub(super) fn trust(&self, authorities: &[Vec<u8>]) -> io::Result<()> {
        let clients = Clients::new(&self.0.options, authorities)?;
        self.0.clients.store(Arc::new(clients));
        Ok(())
    }

    /// Whether the registry is asked without TLS: it was named, or is on this machine and
    /// certificates would be looked at.
    pub(super) fn is_without_tls(&self, authority: &str) -> bool {
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        let host = host.trim_matches(['[', ']']);
        let local = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        let verified = self.0.options.trust == Trust::Verified;
        local && verified || self.0.without_tls.contains(authority)
    }

    /// Asks, and follows redirects. Credentials go only to the host that they are for.
    pub(super) async fn ask(
        &self,
        question: RegistryRequest,
    ) -> Result<RegistryResponse, ImageError> {
        let caller = (question.home.clone(), question.user.clone());
        self.0.pauses.check(&caller)?;
        let mut url = self.checked(&question.url, &question)?;
        let mut authorization = question.authorization.as_deref();
        let deadline = Instant::now() + SLOWEST;
        for _ in 0..=REDIRECTS {
            let answer = self.once(&url, &question, authorization);
            let answer = timeout_at(deadline, answer).await.map_err(|_| slow(&url))??;
            if !answer.response.status().is_redirection() {
                let retry_after = answer.header(RETRY_AFTER.as_str());
                return match self.0.pauses.note(&caller, answer.code(), retry_after) {
                    Some(after) => Err(ImageError::Limited { host: caller.0, after }),
                    None => Ok(answer),
                };
            }
            let next = resolved(&url, answer.header(LOCATION.as_str()));
            let next = self.checked(&next, &question)?;
            if next.authority() != url.authority() || next.scheme() != url.scheme() {
                authorization = None;
            }
            url = next;
        }
        Err(misleading(&url, &format!("more than {REDIRECTS} redirects")))
    }

    async fn once(
        &self,
        url: &Uri,
        question: &RegistryRequest,
        authorization: Option<&str>,
    ) -> Result<RegistryResponse, ImageError> {
        let request = Request::builder().method(question.method.clone()).uri(url.clone());
        let request = request.header(ACCEPT, question.accept).header(USER_AGENT, "olm-rs");
        let request = match authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        };
        let request =
            request.body(Empty::new()).map_err(|error| misleading(url, &error.to_string()))?;
        let clients = self.0.clients.load_full();
        let client = clients.of(&question.home, question.without_tls).await;
        let client = client.map_err(|error| unreachable(url, &error))?;
        let response = client.request(request).await;
        let response = response.map_err(|error| unreachable(url, &error))?;
        Ok(RegistryResponse { url: url.clone(), response })
    }

    /// An address that may be asked: over TLS, or without where that is known to be right. What
    /// listens on this machine is nothing that a registry may refer to, unless it does so itself.
    fn checked(&self, url: &str, question: &RegistryRequest) -> Result<Uri, ImageError> {
        let RegistryRequest { home, without_tls, .. } = question;
        let parsed: Uri = url.parse().map_err(|_| ImageError::Misleading {
            what: format!("a reference of the registry {home}"),
            why: "it is no URL".to_owned(),
        })?;
        let authority = parsed.authority().map(|authority| authority.as_str()).unwrap_or_default();
        match parsed.scheme_str() {
            Some("https") => Ok(parsed),
            Some("http") if authority == home && *without_tls => Ok(parsed),
            Some("http") if self.0.without_tls.contains(authority) => Ok(parsed),
            _ => Err(misleading(&parsed, "a registry refers to it, and it is not asked over TLS")),
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("without_tls", &self.0.without_tls).finish_non_exhaustive()
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

/// A URL without its query, which may hold a secret.
pub(super) fn shown(url: &Uri) -> String {
    format!("{}://{}{}", url.scheme_str().unwrap_or_default(), host(url), url.path())
}

fn misleading(url: &Uri, why: &str) -> ImageError {
    ImageError::Misleading { what: shown(url), why: why.to_owned() }
}

pub(super) fn slow(url: &Uri) -> ImageError {
    ImageError::Slow { host: host(url), after: SLOWEST }
}

/// With what is behind the error, which says more than the error.
pub(super) fn unreachable(url: &Uri, error: &(dyn std::error::Error + 'static)) -> ImageError {
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
