//! What the process says about itself over HTTP/1.1.
//!
//! | path | answer |
//! |---|---|
//! | `/healthz` | 200 as long as the process serves |
//! | `/ready`, `/readyz` | 200 once all gates of [`Readiness`] are open, else 503 and which not |
//! | `/metrics` | Prometheus text |
//! | `/debug/state` | JSON of what the binary registered; only to callers on the same host |

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::metrics::{Metrics, TEXT_FORMAT};
use crate::tasks::{Readiness, Tasks};

/// Why the endpoints are not served.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct AdminError {
    /// The address as given.
    pub address: String,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

/// What the endpoints tell.
pub struct Admin {
    metrics: Metrics,
    states: BTreeMap<String, Dump>,
}

type Dump = Box<dyn Fn() -> Value + Send + Sync>;

struct Shared {
    admin: Admin,
    readiness: Readiness,
}

impl Admin {
    /// Endpoints that serve `metrics`.
    pub fn new(metrics: Metrics) -> Self {
        Self { metrics, states: BTreeMap::new() }
    }

    /// Adds a part of `/debug/state`; `dump` is called per request and should be quick.
    #[must_use]
    pub fn state(mut self, name: &str, dump: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        self.states.insert(name.to_owned(), Box::new(dump));
        self
    }

    /// Listens on `address` (`host:port`, port 0 for any) and serves as a critical task. Returns
    /// the address that it listens on.
    ///
    /// # Errors
    /// When the address is taken or invalid.
    pub async fn serve(self, address: &str, tasks: &Tasks) -> Result<SocketAddr, AdminError> {
        let failed = |source| AdminError { address: address.to_owned(), source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let shared = Shared { admin: self, readiness: tasks.readiness().clone() };
        let service = router(Arc::new(shared)).into_make_service_with_connect_info::<SocketAddr>();
        let shutdown = tasks.token().cancelled_owned();
        let server = axum::serve(listener, service).with_graceful_shutdown(shutdown);
        tasks.spawn_fallible("admin endpoints", async move { server.await });
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

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    match shared.admin.metrics.encode() {
        Ok(text) => ([(CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Names of other people's objects are nothing for the network; `kubectl port-forward` arrives
/// over the loopback interface.
async fn state(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(caller): ConnectInfo<SocketAddr>,
) -> Response {
    if !caller.ip().to_canonical().is_loopback() {
        let text = "only from the same host; use kubectl port-forward\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    let states = shared.admin.states.iter();
    Json(states.map(|(name, dump)| (name.clone(), dump())).collect::<Value>()).into_response()
}
