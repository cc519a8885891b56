//! What the process says about itself over HTTP/1.1, with TLS or without.
//!
//! | path | answer |
//! |---|---|
//! | `/healthz` | 200 as long as the process serves |
//! | `/ready`, `/readyz` | 200 once all gates of [`Readiness`] are open, else 503 and which not |
//! | `/metrics` | Prometheus text; over TLS only to those who may `get` that path |
//! | `/debug/state` | JSON for support: versions, queues, watches, and what the binary adds; to callers on the same host, and over TLS to those who may `get` that path |

mod guard;
mod listen;
mod state;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use kube::Client;
use serde_json::Value;

use crate::listen::Caller;
use crate::metrics::{Metrics, TEXT_FORMAT};
use crate::tasks::{Readiness, Tasks};
use crate::tls::{FilesError, SharedProfile, TlsFiles};

use guard::Guard;
use listen::Tls;

/// Why the endpoints are not served.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The address is taken or invalid.
    #[error("cannot listen on {address}")]
    Address {
        /// The address as given.
        address: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The certificates cannot be used.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// What the endpoints say.
pub struct Admin {
    metrics: Metrics,
    states: BTreeMap<String, Dump>,
    tls: Option<Tls>,
}

type Dump = Box<dyn Fn() -> Value + Send + Sync>;

struct Shared {
    admin: Admin,
    readiness: Readiness,
    guard: Guard,
}

impl Admin {
    /// Endpoints that serve `metrics`.
    pub fn new(metrics: Metrics) -> Self {
        Self { metrics, states: BTreeMap::new(), tls: None }
    }

    /// Adds a part of `/debug/state`; `dump` is called per request and should be quick. Support reads
    /// it: names and numbers, nothing that is secret.
    #[must_use]
    pub fn state(mut self, name: &str, dump: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        self.states.insert(name.to_owned(), Box::new(dump));
        self
    }

    /// Serves over TLS if there are files for it, and accepts what `profile` says; `client` asks the
    /// cluster about callers.
    #[must_use]
    pub fn tls(
        mut self,
        files: Option<TlsFiles>,
        profile: impl Into<SharedProfile>,
        client: &Client,
    ) -> Self {
        let (profile, client) = (profile.into(), client.clone());
        self.tls = files.map(|files| Tls { files, profile, client });
        self
    }

    /// Listens on `address` (`host:port`, port 0 for any) and serves as a critical task. Returns
    /// the address that it listens on.
    ///
    /// # Errors
    /// When the address is taken or invalid, or the certificates cannot be used.
    pub async fn serve(mut self, address: &str, tasks: &Tasks) -> Result<SocketAddr, AdminError> {
        let (server, guard) = listen::bind(address, self.tls.take(), &self.metrics, tasks).await?;
        let bound = server.address();
        let shared = Shared { admin: self, readiness: tasks.readiness().clone(), guard };
        server.serve("admin endpoints", router(Arc::new(shared)), tasks);
        tracing::info!(address = %bound, "serving health, readiness and metrics");
        Ok(bound)
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok"))
        .route("/ready", get(ready))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/debug/state", get(state))
        .with_state(shared)
}

async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    let missing = shared.readiness.waiting_for();
    if missing.is_empty() {
        return "ok".into_response();
    }
    let text = format!("waiting for: {}\n", missing.join(", "));
    (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
}

async fn metrics(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    headers: HeaderMap,
) -> Response {
    if let Err(refusal) = shared.guard.may_read(&caller, &headers, "/metrics").await {
        return refusal.into_response();
    }
    match shared.admin.metrics.encode() {
        Ok(text) => ([(CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Names of objects are not for every caller in the network.
async fn state(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    headers: HeaderMap,
) -> Response {
    if let Err(refusal) = shared.guard.may_debug(&caller, &headers, "/debug/state").await {
        return refusal.into_response();
    }
    Json(state::of(&shared.admin, &shared.readiness)).into_response()
}
