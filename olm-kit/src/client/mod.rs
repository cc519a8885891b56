//! A connection to the API server.
//!
//! One TLS provider for the whole process, no client-side rate limit (API Priority and Fairness on
//! the server decides), a bound on every call that is not a watch, and few, short retries: kube's
//! default would hold a write back for up to a quarter of an hour, while our queues try again with
//! fresh knowledge. Of several replicas only the leader writes: `fence` looks at every attempt. No name
//! leads a request elsewhere: `path_guard` looks at every path. What the operators do not read of an
//! answer is left out while it arrives: `answer`.

mod answer;
mod bound;
pub(crate) mod fence;
mod path_guard;
mod rule;
mod verb;

use std::path::Path;
use std::time::Duration;

use http::HeaderValue;
use http::header::USER_AGENT;
use kube::client::ClientBuilder;
use kube::client::retry::{InvalidBackoff, RetryPolicy};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::buffer::BufferLayer;
use tower::retry::RetryLayer;

use crate::leader::Leadership;
use crate::metrics::RequestMetrics;
use answer::AnswerLayer;
pub use answer::Fields;
pub(crate) use answer::without;
use bound::BoundLayer;
use fence::FenceLayer;
use path_guard::PathGuardLayer;

/// Longest wait for the head of an answer that is not a watch; kube-apiserver itself gives up
/// after 60 s, and webhooks have 30 s at most.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(40);

/// Longest silence inside an answer. Longer than the 290 s after which a watch is renewed.
const READ_TIMEOUT: Duration = Duration::from_secs(330);

/// Retries of a call that got 429, 503 or 504; with doubling from 100 ms they take about 3 s.
const RETRIES: u32 = 5;
const RETRY_START: Duration = Duration::from_millis(100);
const RETRY_CAP: Duration = Duration::from_secs(2);

/// Calls that may wait for a connection at the same time.
const CALL_BUFFER: usize = 1024;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be used.
    #[error("cannot use the kubeconfig")]
    Kubeconfig(#[source] KubeconfigError),
    /// There is neither a kubeconfig nor a cluster around the process.
    #[error("found neither a kubeconfig nor in-cluster configuration")]
    Infer(#[source] kube::config::InferConfigError),
    /// The configuration does not make a client.
    #[error("cannot build a client for {url}")]
    Build {
        /// URL of the API server.
        url: String,
        /// What is wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// The retry delays contradict each other.
    #[error("invalid retry policy")]
    Retry(#[source] InvalidBackoff),
}

/// A client for the cluster of `kubeconfig`, of `KUBECONFIG`, of `~/.kube/config` or around the
/// process, in this order.
///
/// # Errors
/// When there is no usable configuration. No call is made yet.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, ConnectError> {
    Connector::load(kubeconfig).await?.client()
}

/// A loaded configuration from which clients with different identities are made.
#[derive(Clone, Debug)]
pub struct Connector {
    config: Config,
    metrics: Option<RequestMetrics>,
    leadership: Leadership,
}

impl Connector {
    /// Loads the configuration; see [`connect`].
    ///
    /// # Errors
    /// When there is no usable configuration.
    pub async fn load(kubeconfig: Option<&Path>) -> Result<Self, ConnectError> {
        let config = match kubeconfig {
            Some(path) => {
                let file = Kubeconfig::read_from(path).map_err(ConnectError::Kubeconfig)?;
                Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                    .await
                    .map_err(ConnectError::Kubeconfig)?
            }
            None => Config::infer().await.map_err(ConnectError::Infer)?,
        };
        Ok(Self { config, metrics: None, leadership: Leadership::alone() })
    }

    /// Counts the calls of the clients that are made from now on.
    #[must_use]
    pub fn metrics(mut self, metrics: RequestMetrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Lets the clients that are made from now on write only while this replica leads, whoever uses
    /// them.
    #[must_use]
    pub fn led_by(mut self, leadership: &Leadership) -> Self {
        self.leadership = leadership.clone();
        self
    }

    /// URL of the API server.
    pub fn url(&self) -> String {
        self.config.cluster_url.to_string()
    }

    /// A client with the configured credentials.
    ///
    /// # Errors
    /// When the configuration does not make a client.
    pub fn client(&self) -> Result<Client, ConnectError> {
        self.build(self.config.clone())
    }

    /// A client that trusts the same server but carries no credentials, for calls that bring a
    /// token of their own.
    ///
    /// # Errors
    /// When the configuration does not make a client.
    pub fn anonymous(&self) -> Result<Client, ConnectError> {
        let mut config = self.config.clone();
        config.auth_info = AuthInfo::default();
        self.build(config)
    }

    fn build(&self, mut config: Config) -> Result<Client, ConnectError> {
        install_tls_provider();
        config.read_timeout = Some(READ_TIMEOUT);
        config.reset_reader_on_write = true;
        config.headers.push((USER_AGENT, user_agent()));
        let url = config.cluster_url.to_string();
        let retry =
            RetryPolicy::new(RETRY_START, RETRY_CAP, RETRIES, true).map_err(ConnectError::Retry)?;
        let transport = olm_transport::connect(&config)
            .map_err(|source| ConnectError::Build { url, source: Box::new(source) })?;
        let stack = ClientBuilder::new(transport, config.default_namespace)
            .with_layer(&BoundLayer::new(REQUEST_TIMEOUT, self.metrics.clone()))
            .with_layer(&FenceLayer::new(self.leadership.clone()))
            .with_layer(&PathGuardLayer::new())
            .with_layer(&BufferLayer::new(CALL_BUFFER))
            .with_layer(&RetryLayer::new(retry))
            .with_layer(&AnswerLayer::default());
        Ok(stack.build())
    }
}

/// Installs the TLS provider of the process, unless there is one already.
pub fn install_tls_provider() {
    // An error means that a provider is there, which is all we want.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// Name of the binary and version, as audit logs show it.
fn user_agent() -> HeaderValue {
    let program = std::env::args_os().next().unwrap_or_default();
    let program = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy();
    let text = format!("{program}/{} (olm-rs)", env!("CARGO_PKG_VERSION"));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("olm-rs"))
}

#[cfg(test)]
mod tests;
