//! Who asks in the cluster: whoever brings a token of the API server, which is asked with it.
//!
//! ```text
//! refusals  names of this server, other sites, headers that say who a user is
//! sessions  what is in memory, for how long
//! users     the cluster, asked with the token of a user
//! page      the login page and the cookie
//! ```
//! A token comes in `Authorization: Bearer` or in the form of the login page. It is kept by the client that asks with
//! it, and nowhere else: sessions are found by digests, and no address, message or page has one.

mod page;
mod refusals;
mod sessions;
mod users;

use axum::extract::{Query, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, Method, StatusCode, Uri};
use kube::Config;
use olm_client::Cluster;
use serde::Deserialize;
use tokio::time::{Instant, interval};

use crate::guard::{digest, random};
use crate::{ConsoleError, csrf, live};
use sessions::{IDLE, Key, Sessions};
use users::{ApiServer, Rejection, User};

/// Where the kubelet asks whether the server answers.
const HEALTH: &str = "/healthz";

/// Bytes of a form with a token, and of a token.
const FORM: usize = 16 * 1024;

/// What the page says to a user whose cookie leads to no session.
const OVER: &str = "You are not logged in any more: you have logged out, were away for half an hour, or this server \
                    was started again.";

/// What it says about a token.
const REJECTED: &str =
    "The API server does not accept this token: it has expired, or is not one of this cluster.";

/// Lets users in.
pub(crate) struct Login {
    hosts: Vec<String>,
    server: ApiServer,
    sessions: Sessions<User>,
}

/// What a user sends to log in.
#[derive(Default, Deserialize)]
struct Form {
    #[serde(default)]
    token: String,
    #[serde(default)]
    next: String,
}

impl Login {
    /// No user is logged in. `hosts` are the names of this server as browsers write them, with a port where it is not
    /// that of HTTPS.
    pub(crate) fn new(hosts: Vec<String>, config: Config) -> Self {
        Self { hosts, server: ApiServer::new(config), sessions: Sessions::new() }
    }

    /// The cluster, asked without credentials.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub(crate) fn anonymous(&self) -> kube::Result<Cluster> {
        Ok(self.server.cluster(self.server.anonymous()?))
    }

    /// Ends sessions that are not used, for as long as this is awaited.
    pub(crate) async fn sweep(&self) {
        let mut ticks = interval(IDLE / 60);
        loop {
            self.sessions.sweep(ticks.tick().await);
        }
    }

    /// Answers a request, or passes it on with the identity of its user.
    pub(crate) async fn answer(&self, mut request: Request, next: Next) -> Response {
        let path = request.uri().path().to_owned();
        if path == HEALTH {
            return "ok\n".into_response();
        }
        if let Some(refusal) = refusals::refusal(&self.hosts, request.method(), request.headers()) {
            return refusal.into_response();
        }
        match (request.method() == Method::POST, path.as_str()) {
            (true, "/login") => return self.enter(request).await,
            (true, "/logout") => return self.leave(request.headers()),
            (false, "/login") => return page::page(StatusCode::OK, "", ""),
            // What the login page loads: a browser asks for its picture by itself.
            (false, "/console.css" | "/favicon.ico") => return next.run(request).await,
            _ => {}
        }
        let asked = address(request.uri());
        let (key, user) = match self.user(request.headers(), &asked).await {
            Ok(found) => found,
            Err(response) => return *response,
        };
        request.extensions_mut().insert(user.identity.clone());
        let request = match csrf::opened(request, csrf::Token::of(key)).await {
            Ok(request) => request,
            Err(refusal) => return *refusal,
        };
        let response = next.run(request).await;
        if user.is_rejected() {
            self.sessions.end(&key);
            return page::page(StatusCode::UNAUTHORIZED, REJECTED, &asked);
        }
        response
    }

    /// The user of a request, or an answer that asks for one.
    async fn user(&self, headers: &HeaderMap, asked: &str) -> Result<(Key, User), Box<Response>> {
        let (now, is_use) = (Instant::now(), is_use(headers, asked));
        if let Some(token) = bearer(headers) {
            let key = digest(&format!("token {token}"));
            if let Some(user) = self.sessions.find(&key, is_use, now) {
                return Ok((key, user));
            }
            return match self.begin(key, token).await {
                Ok(user) => Ok((key, user)),
                Err((code, why)) => Err(Box::new(page::page(code, &why, asked))),
            };
        }
        let Some(secret) = cookie(headers) else {
            return Err(Box::new(page::page(StatusCode::UNAUTHORIZED, "", asked)));
        };
        let key = digest(&format!("cookie {secret}"));
        match self.sessions.find(&key, is_use, now) {
            Some(user) => Ok((key, user)),
            None => Err(Box::new(page::page(StatusCode::UNAUTHORIZED, OVER, asked))),
        }
    }

    /// Begins a session with a token that the API server accepts.
    async fn begin(&self, key: Key, token: &str) -> Result<User, (StatusCode, String)> {
        if !is_token(token) {
            return Err((StatusCode::UNAUTHORIZED, REJECTED.to_owned()));
        }
        let client = self.server.client(token).await.map_err(refused)?;
        let make = |number, end| self.server.user(client, number, end);
        let full = "Too many users are logged in; try again later.";
        let begun = self.sessions.begin(key, Instant::now(), make);
        begun.ok_or_else(|| (StatusCode::SERVICE_UNAVAILABLE, full.to_owned()))
    }

    /// Takes a token of the login page.
    async fn enter(&self, request: Request) -> Response {
        let form = match axum::body::to_bytes(request.into_body(), FORM).await {
            Ok(body) => form(&body).unwrap_or_default(),
            Err(_) => Form::default(),
        };
        let secret = match random() {
            Ok(secret) => secret,
            Err(error) => {
                return page::page(StatusCode::SERVICE_UNAVAILABLE, &error.to_string(), "");
            }
        };
        let key = digest(&format!("cookie {secret}"));
        match self.begin(key, form.token.trim()).await {
            Ok(_) => page::begin(&secret, &form.next),
            Err((code, why)) => page::page(code, &why, &form.next),
        }
    }

    fn leave(&self, headers: &HeaderMap) -> Response {
        if let Some(secret) = cookie(headers) {
            self.sessions.end(&digest(&format!("cookie {secret}")));
        }
        page::leave()
    }
}

fn refused(rejection: Rejection) -> (StatusCode, String) {
    match rejection {
        Rejection::Token => (StatusCode::UNAUTHORIZED, REJECTED.to_owned()),
        Rejection::Silent(why) => {
            let why = format!("The API server does not say whose token this is: {why}");
            (StatusCode::BAD_GATEWAY, why)
        }
        Rejection::Busy => {
            let why = "Many users log in at once; try again.";
            (StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
        }
    }
}

/// Whether a user asks. A page that is live reads its content anew, and comes back for its events: its user may be away.
/// A search as it is typed is a use.
fn is_use(headers: &HeaderMap, asked: &str) -> bool {
    let reads_itself = headers.get("hx-target").is_some_and(|target| target == "content");
    !reads_itself && !asked.starts_with(live::PATH)
}

/// The page that is asked for, to which a user comes who logs in.
fn address(uri: &Uri) -> String {
    uri.path_and_query().map(|address| address.as_str().to_owned()).unwrap_or_default()
}

/// The token of the header. Where there are several, none counts.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let only = all.next().filter(|_| all.next().is_none())?;
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The value of the cookie. Where there are several, none counts.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|one| one.trim().split_once('='));
    let mut values = pairs.filter(|(name, _)| *name == page::COOKIE).map(|(_, value)| value);
    values.next().filter(|_| values.next().is_none())
}

/// Whether it can stand in a header.
fn is_token(token: &str) -> bool {
    !token.is_empty() && token.len() <= FORM && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Reads a form; its text is that of a query.
fn form(body: &[u8]) -> Option<Form> {
    let text = std::str::from_utf8(body).ok()?;
    let uri: Uri = format!("/?{text}").parse().ok()?;
    Query::<Form>::try_from_uri(&uri).ok().map(|Query(form)| form)
}

impl From<kube::Error> for ConsoleError {
    fn from(error: kube::Error) -> Self {
        Self::ApiServer(error.to_string())
    }
}

#[cfg(test)]
mod tests;
