//! The version of the API server, which names of catalog images may follow.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use olm_kit::discovery;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a version is believed.
const FRESH: Duration = Duration::from_secs(60);

/// Asks for the version, not at every look. Clones share what is known.
#[derive(Clone)]
pub struct ServerVersion {
    client: Client,
    known: Arc<Mutex<Option<(Instant, String)>>>,
}

impl ServerVersion {
    /// Asks with `client`.
    pub fn new(client: Client) -> Self {
        Self { client, known: Arc::default() }
    }

    /// The version, for example `v1.33.1`; the last one known when it cannot be asked for.
    pub(super) async fn current(&self) -> Option<String> {
        let mut known = self.known.lock().await;
        if let Some((at, version)) = &*known
            && at.elapsed() < FRESH
        {
            return Some(version.clone());
        }
        match discovery::server_version(&self.client).await {
            Ok(version) => *known = Some((Instant::now(), version)),
            Err(error) => tracing::warn!(%error, "image templates follow the last known version"),
        }
        known.as_ref().map(|(_, version)| version.clone())
    }
}
