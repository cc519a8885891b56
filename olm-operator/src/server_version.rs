//! The version of the API server, which `spec.minKubeVersion` is compared with.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use olm_kit::discovery;
use parking_lot::Mutex;
use tokio::time::Instant;

/// How long a version is believed. API servers are upgraded, but not often.
const BELIEVED_FOR: Duration = Duration::from_secs(600);

/// Reads the version when it is asked for and keeps it for a while. Clones share it.
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

    /// The version, or `None` while it cannot be read.
    pub async fn get(&self) -> Option<String> {
        if let Some(known) = self.fresh() {
            return Some(known);
        }
        match discovery::server_version(&self.client).await {
            Ok(version) => {
                *self.known.lock() = Some((Instant::now(), version.clone()));
                Some(version)
            }
            Err(error) => {
                tracing::warn!(%error, "the last known version of the API server is used");
                self.known.lock().as_ref().map(|(_, version)| version.clone())
            }
        }
    }

    fn fresh(&self) -> Option<String> {
        let known = self.known.lock();
        let (read, version) = known.as_ref()?;
        (read.elapsed() < BELIEVED_FOR).then(|| version.clone())
    }
}
