//! The version of the API server, kept for a while.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::server_version;

/// How long a version is believed. API servers are upgraded, but not often.
pub const BELIEVED_FOR: Duration = Duration::from_secs(60);

/// Reads the version when it is asked for. Clones share what is known.
#[derive(Clone)]
pub struct ServerVersion {
    client: Client,
    known: Arc<Mutex<Option<(Instant, String)>>>,
}

impl ServerVersion {
    /// Nothing is read yet.
    pub fn new(client: Client) -> Self {
        Self { client, known: Arc::default() }
    }

    /// The version, for example `v1.33.1`; the last one known when it cannot be read, `None` when
    /// it never could.
    pub async fn current(&self) -> Option<String> {
        let mut known = self.known.lock().await;
        if let Some((read, version)) = &*known
            && read.elapsed() < BELIEVED_FOR
        {
            return Some(version.clone());
        }
        match server_version(&self.client).await {
            Ok(version) => *known = Some((Instant::now(), version)),
            Err(error) => {
                tracing::warn!(%error, "the last known version of the API server is used");
            }
        }
        known.as_ref().map(|(_, version)| version.clone())
    }
}
